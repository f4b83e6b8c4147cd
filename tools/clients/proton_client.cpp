// A round with Proton's client of C++, which knows no Service Bus.

#include <proton/connection.hpp>
#include <proton/connection_options.hpp>
#include <proton/container.hpp>
#include <proton/delivery.hpp>
#include <proton/duration.hpp>
#include <proton/error_condition.hpp>
#include <proton/message.hpp>
#include <proton/messaging_handler.hpp>
#include <proton/receiver_options.hpp>
#include <proton/sender.hpp>
#include <proton/tracker.hpp>
#include <proton/transport.hpp>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

static std::string after(const std::string& text, const std::string& mark) {
  auto place = text.find(mark);
  if (place == std::string::npos) throw std::runtime_error("there is no " + mark);
  place += mark.size();
  return text.substr(place, text.find(';', place) - place);
}

class Round : public proton::messaging_handler {
 public:
  explicit Round(const std::string& connection)
      : address(after(connection, "sb://")),
        user(after(connection, "SharedAccessKeyName=")),
        password(after(connection, "SharedAccessKey=")) {}

  void on_container_start(proton::container& container) override {
    proton::connection_options options;
    options.user(user).password(password).sasl_allow_insecure_mechs(true);
    options.sasl_allowed_mechs("PLAIN");
    container.connect("amqp://" + address, options);
  }

  void on_connection_open(proton::connection& connection) override {
    connection.open_sender("plain");
    connection.open_receiver("plain", proton::receiver_options().auto_accept(true));
  }

  void on_sendable(proton::sender& sender) override {
    while (sent < bodies.size() && sender.credit() > 0) sender.send(proton::message(bodies[sent++]));
  }

  void on_message(proton::delivery& delivery, proton::message& message) override {
    if (proton::get<std::string>(message.body()) != bodies.at(found)) throw std::runtime_error("body");
    if (++found == bodies.size()) delivery.connection().close();
  }

  void on_error(const proton::error_condition& error) override {
    throw std::runtime_error(error.what());
  }

  std::size_t found = 0;
  const std::vector<std::string> bodies{std::string(200000, 'x'), "1", "2"};

 private:
  std::string address, user, password;
  std::size_t sent = 0;
};

int main() {
  try {
    Round round(std::getenv("BUSPROOF_CONNECTION"));
    proton::container(round).run();
    if (round.found != round.bodies.size()) throw std::runtime_error("not all came");
    std::cout << "sends_and_receives ok" << std::endl;
  } catch (const std::exception& error) {
    std::cout << "sends_and_receives failed: " << error.what() << std::endl;
  }
}
