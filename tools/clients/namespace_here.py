"""Resolve the host names of an Azure namespace to the broker, for clients that require them.

Importing this module before others also makes clients trust the broker's certificate. A user would
add the name to the hosts file and the certificate to a bundle; a nightly check cannot.
"""

import os
import socket

import certifi

AUTHORITY = os.environ["BUSPROOF_CA"]
os.environ["SSL_CERT_FILE"] = os.environ["REQUESTS_CA_BUNDLE"] = AUTHORITY
certifi.where = lambda: AUTHORITY

SUFFIX = ".servicebus.windows.net"
NAMESPACE = "busproof"
HOST = NAMESPACE + SUFFIX
POLICY, KEY = "RootManageSharedAccessKey", "SAS_KEY_VALUE"
CONNECTION = f"Endpoint=sb://{HOST}/;SharedAccessKeyName={POLICY};SharedAccessKey={KEY}"
PORTS = {
    5671: int(os.environ["BUSPROOF_TLS_PORT"]),
    443: int(os.environ["BUSPROOF_ADMIN_PORT"]),
}
WEB_PORT = int(os.environ["BUSPROOF_WEB_PORT"])
_real_getaddrinfo = socket.getaddrinfo


def _getaddrinfo(host, port, *args, **options):
    """Return the broker's address for the name of the namespace."""
    name = host.decode() if isinstance(host, bytes) else host
    if name == HOST:
        return _real_getaddrinfo("127.0.0.1", PORTS.get(port, port), *args, **options)
    if name is not None and name.endswith(SUFFIX):
        raise socket.gaierror(socket.EAI_NONAME, "there is no such namespace")
    return _real_getaddrinfo(host, port, *args, **options)


socket.getaddrinfo = _getaddrinfo
