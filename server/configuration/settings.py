"""Settings: environment variables with the prefix ``CURATOR_``, or a file of them."""

import os
import stat
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

SETTINGS_FILE_VARIABLE = "CURATOR_SETTINGS"
SETTINGS_FILE = Path("curator.env")  # in the working directory
MADE_BY_SPHINX = ("index.html", "objects.inv", "searchindex.js")
_ROOT_USER = 0
_LAST_PORT = 65535


class SettingsError(Exception):
    """A setting is missing or unusable; the message says what to set."""


class Settings(BaseSettings):
    """Everything that an operator may set; docs/operations lists each."""

    model_config = SettingsConfigDict(
        env_prefix="CURATOR_", env_ignore_empty=True, extra="ignore"
    )

    data: Path
    anchor: Path
    database_url: str = Field(default="", repr=False)  # may hold a password
    import_: Path | None = Field(default=None, alias="CURATOR_IMPORT")
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    slot_ms: int = Field(default=100, ge=0, le=60_000)
    release_slot_s: int = Field(default=10, ge=0, le=3_600)
    rate_limit: int = Field(default=120, ge=0)
    max_in_flight: int = Field(default=8, ge=0)
    permits: int = Field(default=64, ge=1)
    executors: int = Field(default=2, ge=1, le=32)  # they share 2 GiB
    workers: int = Field(default=1, ge=1, le=64)
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    metrics_host: str = "127.0.0.1"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    tls_cert: Path | None = None
    tls_key: Path | None = None
    trust_proxy: bool = False
    insecure_demo: bool = False
    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_jwks: str = ""
    oidc_principal_claim: str = "sub"
    oidc_subjects: Path | None = None
    manual: Path | None = None  # what `make docs` built
    text_key: Path | None = None  # encrypts texts and models in the database

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.data = self.data.expanduser().absolute()
        self.anchor = self.anchor.expanduser().absolute()
        if self.anchor.resolve().is_relative_to(self.data.resolve()):
            message = (
                f"CURATOR_ANCHOR ({self.anchor}) lies inside CURATOR_DATA: one "
                "backup would then hold both, and a restored ledger could not be told "
                "from the live one; set it to a path elsewhere, best on another device"
            )
            raise ValueError(message)
        if (self.tls_cert is None) != (self.tls_key is None):
            message = "CURATOR_TLS_CERT and CURATOR_TLS_KEY: set both, or neither"
            raise ValueError(message)
        self._check_text_key()
        self._check_manual()
        self._check_database()
        return self

    def _check_text_key(self) -> None:
        if self.text_key is None:
            return
        self.text_key = self.text_key.expanduser().absolute()
        if self.text_key.resolve().is_relative_to(self.data.resolve()):
            message = (
                f"CURATOR_TEXT_KEY ({self.text_key}) lies inside CURATOR_DATA, with "
                "the texts that it encrypts: set it to a path elsewhere"
            )
            raise ValueError(message)

    def _check_manual(self) -> None:
        """Refuse a folder that is no manual: all that it holds is shown to anybody."""
        if self.manual is None:
            return
        self.manual = self.manual.expanduser().absolute()
        made = all((self.manual / name).is_file() for name in MADE_BY_SPHINX)
        private = (self.data, self.anchor, *filter(None, [self.import_]))
        inside = [each for each in private if _overlap(self.manual, each)]
        if not made or inside:
            message = (
                f"CURATOR_MANUAL ({self.manual}) must be the folder that 'make docs' "
                "built, build/docs, away from the folders of data, anchor and imports"
            )
            raise ValueError(message)

    def _check_database(self) -> None:
        if _backend(self.database_url) not in {"", "sqlite", "postgresql"}:
            message = (
                "CURATOR_DATABASE_URL: give a postgresql:// or sqlite:/// URL, or "
                "leave the setting out"
            )
            raise ValueError(message)
        if not _is_legible(self.url):
            message = (
                "CURATOR_DATABASE_URL cannot be read: write postgresql://USER:PASSWORD"
                "@HOST:PORT/DATABASE, with a number as port, and in the password %40 "
                "for @, %3A for :, %2F for / and %25 for %"
            )
            raise ValueError(message)
        if self.is_shared:
            return
        if self.workers > 1:
            message = (
                f"CURATOR_WORKERS is {self.workers}: a ledger on SQLite is served by "
                "one process; set CURATOR_DATABASE_URL to a PostgreSQL database"
            )
            raise ValueError(message)
        folder = Path(make_url(self.url).database or "").resolve().parent
        if self.anchor.resolve().is_relative_to(folder):
            message = (
                f"CURATOR_ANCHOR ({self.anchor}) lies beside the database: set it to "
                "a path elsewhere, best on another device"
            )
            raise ValueError(message)

    @model_validator(mode="after")
    def _check_issuer(self) -> Self:
        needed = {"AUDIENCE": self.oidc_audience, "JWKS": self.oidc_jwks}
        missing = [name for name, value in needed.items() if not value]
        if self.oidc_issuer and missing:
            message = f"CURATOR_OIDC_{missing[0]} is not set; CURATOR_OIDC_ISSUER is"
            raise ValueError(message)
        if self.oidc_jwks.startswith("http://"):
            message = "CURATOR_OIDC_JWKS: keys are read from a file or an https URL"
            raise ValueError(message)
        return self

    @property
    def url(self) -> str:
        """The catalogue database's URL, with its driver."""
        if self.is_shared:
            _, _, rest = self.database_url.partition("://")
            return f"postgresql+psycopg://{rest}"
        return self.database_url or f"sqlite:///{self.data / 'curator.sqlite'}"

    @property
    def is_shared(self) -> bool:
        """Whether several processes may serve the ledger: it is on PostgreSQL."""
        return _backend(self.database_url) == "postgresql"

    @property
    def lock_file(self) -> Path:
        """The lock of the one server, beside the ledger or the files that it serves.

        One ledger has one lock, by whatever links it is named.
        """
        if self.is_shared:
            return self.data / "server.lock"
        database = Path(make_url(self.url).database or "").resolve()
        return database.with_name(f"{database.name}.server-lock")

    @property
    def secret_file(self) -> Path:
        """Where the master secret lies."""
        return self.data / "secret.key"

    @property
    def snapshots(self) -> Path:
        """The folder of snapshot files."""
        return self.data / "snapshots"

    @property
    def anonymized(self) -> Path:
        """Where anonymized copies lie, never beside releases."""
        return self.data / "anonymized"

    @property
    def releases(self) -> Path:
        """Where the files of published releases lie."""
        return self.data / "releases"

    @property
    def overlaps(self) -> Path:
        """The folder of overlap files: keyed hashes of each population's unit ids."""
        return self.data / "overlap"


def _backend(url: str) -> str:
    """Return the kind of database that a URL names, whatever the driver."""
    scheme, _, _ = url.partition("://")
    return scheme.partition("+")[0]


def _overlap(folder: Path, other: Path) -> bool:
    """Whether one of two paths lies in the other, links followed."""
    one, two = folder.resolve(), other.resolve()
    return one.is_relative_to(two) or two.is_relative_to(one)


def _is_legible(text: str) -> bool:
    """Whether a URL has the parts that it seems to have."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return False
    is_port = url.port is None or 0 < url.port <= _LAST_PORT
    return is_port and "@" not in (url.host or "")


def read_settings(**overrides: object) -> Settings:
    """Read the settings, ``overrides`` first, then the environment, then the file.

    Raises:
        SettingsError: A setting is missing or wrong.
    """
    if SETTINGS_FILE_VARIABLE not in os.environ:
        _refuse_strangers_settings(SETTINGS_FILE)
    try:
        return Settings(
            _env_file=settings_file(),  # type: ignore[call-arg]
            **{name: value for name, value in overrides.items() if value is not None},  # type: ignore[arg-type]
        )
    except ValidationError as error:
        raise SettingsError(_explain(error)) from None


def settings_file() -> Path:
    """Return the file that settings are read from, if it is there."""
    return Path(os.environ.get(SETTINGS_FILE_VARIABLE, SETTINGS_FILE))


def _refuse_strangers_settings(path: Path) -> None:
    """Refuse a file that nobody named and that somebody else may have put there."""
    try:
        link, file = path.lstat(), path.stat()
    except OSError:
        return  # there is none, or a link that leads nowhere
    trusted = {_ROOT_USER, os.geteuid()}
    if {link.st_uid, file.st_uid} <= trusted and not file.st_mode & stat.S_IWOTH:
        return
    message = (
        f"{path.absolute()} was written by another user, or can be: it is not read. "
        "Type the command in a directory of your own, or name the settings file that "
        f"is yours: export {SETTINGS_FILE_VARIABLE}=/etc/curator/curator.env"
    )
    raise SettingsError(message)


def _explain(error: ValidationError) -> str:
    lines = []
    for problem in error.errors(include_url=False):
        name = str(problem["loc"][0]) if problem["loc"] else ""
        setting = name.upper() if name.startswith("CURATOR") else f"CURATOR_{name}"
        if problem["type"] == "missing":
            lines.append(f"{setting.upper()} is not set; it has no default")
        elif problem["type"] == "value_error":
            lines.append(problem["msg"].removeprefix("Value error, "))
        else:
            lines.append(f"{setting.upper()}: {problem['msg']}")
    return "; ".join(lines)
