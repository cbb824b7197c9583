"""/v1/admin/anonymized: copies that are no differential privacy, and who got them."""

from server.api.routing.operations import Asked, Operations
from server.use_cases.anonymization.replies import CopyDetail, CopyItem
from server.use_cases.anonymization.service import CopyService
from server.use_cases.services.documents import Reply

ANONYMIZED = Operations("anonymized")
_PATH = "/v1/admin/anonymized"


@ANONYMIZED.lists(_PATH, CopyItem)
def list_copies(asked: Asked) -> Reply:
    """List the anonymized copies of your populations, newest first."""
    return CopyService(asked.services).page(asked.viewer, asked.page())


@ANONYMIZED.reads(f"{_PATH}/{{copy}}", CopyDetail)
def show_copy(asked: Asked, copy: str) -> Reply:
    """Show an anonymized copy: its manifest, who got it or others of its people."""
    return CopyService(asked.services).show(asked.viewer, copy)
