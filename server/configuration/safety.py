"""What ``curator serve`` refuses to serve from, and what to type instead."""

import ipaddress
import os
import ssl
import stat
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url

from budget.storage.postgresql import secrets_in
from privacy.errors import CuratorError
from server.configuration.settings import Settings, settings_file
from server.configuration.sources import file_values

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_MAY_CHANGE = stat.S_IWGRP | stat.S_IWOTH
_GROUP_MAY_READ = stat.S_IWGRP | stat.S_IRWXO
"""What is too open of a TLS key, or of settings with a password.

A group may read them: distributions give each to a group of its own.
"""
_SQLITE_ENDINGS = ("", "-wal", "-shm", "-journal")
_UNENCRYPTED = frozenset({"disable", "allow"})


@dataclass(frozen=True, slots=True)
class Danger:
    """Something unsafe: what it is, and what to type."""

    what: str
    remedy: str

    def __str__(self) -> str:
        """Write both as one sentence."""
        return f"{self.what}: {self.remedy}"


class UnsafeConfigurationError(CuratorError):
    """The configuration is unsafe; ``dangers`` says how and what to type."""

    code = "unsafe_configuration"

    def __init__(self, dangers: list[Danger]) -> None:
        self.dangers = dangers
        lines = "\n".join(f"  - {danger}" for danger in dangers)
        super().__init__(
            f"this configuration is unsafe:\n{lines}\nTo show made-up data anyway, "
            "pass --insecure-demo; never do so with patients' data"
        )


def find_dangers(settings: Settings) -> list[Danger]:
    """Return everything unsafe about a configuration; empty where it may serve."""
    return [
        *_open_files(settings),
        *_changeable_identities(settings),
        *_open_settings_file(),
        *_open_network(settings),
        *_open_metrics(settings),
        *_open_database(settings),
        *_open_tls_key(settings),
        *_open_text_key(settings),
        *_loud_logs(settings),
    ]


def require_safe(settings: Settings) -> list[Danger]:
    """Refuse an unsafe configuration, unless it is an insecure demo's.

    Returns:
        The dangers that an insecure demo accepts.

    Raises:
        UnsafeConfigurationError: It is unsafe.
    """
    dangers = find_dangers(settings)
    if dangers and not settings.insecure_demo:
        raise UnsafeConfigurationError(dangers)
    return dangers


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach a listener on ``host``."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _open_files(settings: Settings) -> list[Danger]:
    found = [
        _too_open(settings.data, _OTHERS, "700"),
        *(_too_open(path, _OTHERS, "600") for path in ledger_files(settings)),
    ]
    dangers = [danger for danger in found if danger is not None]
    dangers += _open_anchor_folder(settings.anchor.parent)
    return dangers + _open_database_folder(settings)


def ledger_files(settings: Settings) -> list[Path]:
    """Return the files of the ledger and of what lies beside it, made or not."""
    files = [settings.secret_file, settings.anchor, settings.lock_file]
    database = sqlite_file(settings)
    if database is not None:
        files += [database.with_name(database.name + end) for end in _SQLITE_ENDINGS]
    files += sorted(settings.data.glob("*.dump"))
    return files + sorted(settings.overlaps.glob("*"))


def _open_database_folder(settings: Settings) -> list[Danger]:
    """Find whether others may put a database, or a log of one, in the ledger's place.

    A sticky folder does not help: SQLite would play back a journal that others made.
    """
    database = sqlite_file(settings)
    if database is None or database.parent == settings.data.absolute():
        return []
    danger = _too_open(database.parent, _MAY_CHANGE, "go-w")
    return [] if danger is None else [danger]


def _open_anchor_folder(folder: Path) -> list[Danger]:
    """Find whether others may put another anchor in its place; sticky forbids that."""
    if folder.is_dir() and folder.stat().st_mode & stat.S_ISVTX:
        return []
    danger = _too_open(folder, _MAY_CHANGE, "go-w")
    return [] if danger is None else [danger]


def _changeable_identities(settings: Settings) -> list[Danger]:
    """Find files by whose change others become any principal."""
    paths = [] if settings.oidc_subjects is None else [settings.oidc_subjects]
    if settings.oidc_jwks and "://" not in settings.oidc_jwks:
        paths.append(Path(settings.oidc_jwks))
    found = (_too_open(path, _MAY_CHANGE, "go-w") for path in paths)
    return [danger for danger in found if danger is not None]


def _open_settings_file() -> list[Danger]:
    path = settings_file()
    url = file_values().get("CURATOR_DATABASE_URL", "")
    has_password = "://" in url and bool(secrets_in(url))
    danger = _too_open(path, _GROUP_MAY_READ if has_password else _MAY_CHANGE, "640")
    return [] if danger is None else [danger]


def sqlite_file(settings: Settings) -> Path | None:
    """Return the catalogue's file; None where the catalogue is no SQLite database."""
    url = make_url(settings.url)
    if not url.drivername.startswith("sqlite") or not url.database:
        return None
    return Path(url.database).absolute()


def _too_open(path: Path, forbidden: int, mode: str) -> Danger | None:
    try:
        found = path.stat().st_mode
    except OSError:
        return None  # what is missing is refused elsewhere, with its own words
    if not found & forbidden:
        return None
    verb = "read or change" if forbidden & stat.S_IRWXO == stat.S_IRWXO else "change"
    return Danger(f"others may {verb} {path}", f"type 'chmod {mode} {path}'")


def _open_network(settings: Settings) -> list[Danger]:
    if is_loopback(settings.host) or settings.tls_cert or settings.trust_proxy:
        return []
    return [
        Danger(
            f"plain HTTP on {settings.host} would show keys and answers to the network",
            "set CURATOR_TLS_CERT and CURATOR_TLS_KEY, or CURATOR_HOST=127.0.0.1, or "
            "pass --trust-proxy where a TLS proxy alone can reach this address",
        )
    ]


def _open_metrics(settings: Settings) -> list[Danger]:
    closed = settings.metrics_port is None or is_loopback(settings.metrics_host)
    if closed or settings.trust_proxy:
        return []
    return [
        Danger(
            f"metrics on {settings.metrics_host} have no login",
            "set CURATOR_METRICS_HOST=127.0.0.1, or pass --trust-proxy where only "
            "your own proxy and Prometheus can reach this address",
        )
    ]


def _open_database(settings: Settings) -> list[Danger]:
    if not settings.is_shared:
        return []
    url = make_url(settings.url)
    query = url.normalized_query
    hosts = query.get("host") or (url.host or os.environ.get("PGHOST", ""),)
    mode = query.get("sslmode", (os.environ.get("PGSSLMODE", ""),))[-1]
    far = [
        host
        for host in ",".join(hosts).split(",")
        if host and not host.startswith(("/", "@")) and not is_loopback(host)
    ]
    if mode not in _UNENCRYPTED or not far:
        return []
    return [
        Danger(
            f"the connection to PostgreSQL on {far[0]} is not encrypted",
            "write ?sslmode=verify-full in CURATOR_DATABASE_URL instead of "
            f"sslmode={mode}",
        )
    ]


def _open_tls_key(settings: Settings) -> list[Danger]:
    if settings.tls_key is None:
        return []
    danger = _too_open(settings.tls_key, _GROUP_MAY_READ, "600")
    return [] if danger is None else [danger]


def _open_text_key(settings: Settings) -> list[Danger]:
    if settings.text_key is None:
        return []
    danger = _too_open(settings.text_key, _OTHERS, "600")
    return [] if danger is None else [danger]


def _loud_logs(settings: Settings) -> list[Danger]:
    if settings.log_level != "debug":
        return []
    return [
        Danger(
            "CURATOR_LOG_LEVEL is debug, which is for developers",
            "set CURATOR_LOG_LEVEL=info",
        )
    ]


class TlsFilesError(CuratorError):
    """The TLS files cannot be used, demo or not."""

    code = "tls_files"


def check_tls_files(settings: Settings) -> None:
    """Refuse TLS files that cannot be used, demo or not.

    Raises:
        TlsFilesError: One cannot be read, or they do not belong together.
    """
    if settings.tls_cert is None or settings.tls_key is None:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key, password="")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        message = (
            f"CURATOR_TLS_CERT ({settings.tls_cert}) and CURATOR_TLS_KEY "
            f"({settings.tls_key}) cannot be used ({why}): give PEM files, the "
            "certificate with its chain first, and its own key without a passphrase"
        )
        raise TlsFilesError(message) from None
