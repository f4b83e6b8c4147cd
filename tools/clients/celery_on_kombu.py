"""Try kombu and celery, which require TLS and the service's host names."""

import threading

from namespace_here import KEY, NAMESPACE, POLICY

from celery import Celery
from celery.contrib.testing.worker import start_worker
from kombu import Connection

URL = f"azureservicebus://{POLICY}:{KEY}@{NAMESPACE}"
OPTIONS = {"wait_time_seconds": 1, "polling_interval": 0}
WAIT = 60


def sends_and_receives():
    """Send and receive with kombu, on a queue that it creates."""
    with Connection(URL, transport_options=OPTIONS) as connection:
        queue = connection.SimpleQueue("kombu")
        for body in ("x" * 100_000, {"number": 1}):
            queue.put(body)
            message = queue.get(timeout=WAIT)
            assert message.payload == body
            message.ack()
        queue.close()


def runs_tasks():
    """Run tasks of celery with a worker."""
    app, ran, done = Celery(broker=URL), [], threading.Event()
    app.conf.update(broker_transport_options=OPTIONS, task_default_queue="celery")

    @app.task(name="add")
    def add(one, other):
        ran.append(one + other)
        if len(ran) == 3:
            done.set()

    with start_worker(app, pool="solo", perform_ping_check=False, loglevel="error"):
        for number in range(3):
            add.delay(number, 1)
        assert done.wait(WAIT), f"{len(ran)} of 3 tasks ran"
    assert sorted(ran) == [1, 2, 3]


for step in (sends_and_receives, runs_tasks):
    try:
        step()
    except Exception as error:  # print the failed step, and try the others
        print(step.__name__, "failed:", repr(error).replace("\n", " ")[:300], flush=True)
    else:
        print(step.__name__, "ok", flush=True)
