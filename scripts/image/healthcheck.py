"""Exit with 0 where the server of this container is ready; the image has no curl."""

import os
import ssl
import sys
import urllib.request

port = os.environ.get("CURATOR_PORT", "8000")
scheme = "https" if os.environ.get("CURATOR_TLS_CERT") else "http"
# The certificate is the outside name's, and this is loopback: it proves nothing here.
context = ssl._create_unverified_context() if scheme == "https" else None  # noqa: S323, SLF001
try:
    url = f"{scheme}://127.0.0.1:{port}/readyz"
    with urllib.request.urlopen(url, timeout=4, context=context) as reply:
        sys.exit(0 if reply.status == 200 else 1)  # noqa: PLR2004
except OSError:
    sys.exit(1)
