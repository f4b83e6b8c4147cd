"""Run a command with a fresh RabbitMQ, whose address replaces ADDRESS in the command.

    tools/on_rabbitmq.py busproof run --adapter ADDRESS --yes

The exit code is that of the command, or 2 if RabbitMQ is not installed.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

from brokers import GUEST, RABBITMQ, rabbitmq


def main(command: list[str]) -> int:
    """Run the command; return its exit code."""
    if not command or not RABBITMQ.exists():
        missing = (
            "a command to run" if not command else "RabbitMQ (apt-get install rabbitmq-server)"
        )
        print(f"tools/on_rabbitmq.py: this needs {missing}", file=sys.stderr)
        return 2
    with rabbitmq() as broker:
        login = f"{GUEST['user']}:{GUEST['password']}"
        address = f"amqp://{login}@127.0.0.1:{broker.port}?dialect=plain"
        words = [address if word == "ADDRESS" else word for word in command]
        return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
