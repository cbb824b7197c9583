"""Access that ends soon: a warning that depends on policy and the date alone."""

from datetime import date, timedelta

from server.use_cases.releases.replies import WarningShape
from server.use_cases.services.services import today

EXPIRY_WARNING = timedelta(days=14)


def expires_soon(expires: str | None) -> bool:
    """Whether a project still has access, but not for much longer."""
    if expires is None:
        return False
    left = date.fromisoformat(expires) - today()
    return timedelta(0) < left <= EXPIRY_WARNING


def expiry_warnings(expires: str | None) -> list[WarningShape]:
    """Return the warning that a project's page shows; none where it is not near."""
    if not expires_soon(expires):
        return []
    detail = (
        f"access ends {expires}: ask a custodian to extend it, and fetch your answers "
        "before"
    )
    return [{"code": "expires_soon", "detail": detail}]
