"""/v1/admin/announcements: custodians say which releases are planned, and by when."""

from server.api.routing.operations import Asked, Operations
from server.api.schemas.admin import ReasonBody
from server.api.schemas.releases import AnnouncementBody
from server.use_cases.publishing.announcing import ReleaseAnnouncer
from server.use_cases.publishing.replies import (
    AdminAnnouncement,
    AdminAnnouncementItem,
)
from server.use_cases.services.documents import Reply

ANNOUNCEMENTS = Operations("publishing")
_PATH = "/v1/admin/announcements"
_ONE = f"{_PATH}/{{announcement}}"


@ANNOUNCEMENTS.changes(f"POST {_PATH}", AdminAnnouncement, AnnouncementBody, status=201)
def announce_release(asked: Asked, body: AnnouncementBody) -> Reply:
    """Tell a release's readers that it is planned; nothing is charged or counted."""
    told = {"release": body.release}
    return ReleaseAnnouncer(asked.services).announce(asked.viewer, told, body.by)


@ANNOUNCEMENTS.lists(_PATH, AdminAnnouncementItem)
def list_held_announcements(asked: Asked) -> Reply:
    """List the announcements of your populations, newest first."""
    return ReleaseAnnouncer(asked.services).page(asked.viewer, asked.page())


@ANNOUNCEMENTS.reads(_ONE, AdminAnnouncement)
def show_held_announcement(asked: Asked, announcement: str) -> Reply:
    """Return an announcement of yours, with its release's spec."""
    return ReleaseAnnouncer(asked.services).show(asked.viewer, announcement)


@ANNOUNCEMENTS.changes(f"POST {_ONE}/withdraw", AdminAnnouncement, ReasonBody)
def withdraw_announcement(asked: Asked, body: ReasonBody, announcement: str) -> Reply:
    """Take an announcement back: its release is not to come, or not so."""
    announcer = ReleaseAnnouncer(asked.services)
    return announcer.withdraw(asked.viewer, announcement, body.reason)
