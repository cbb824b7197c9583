// Puts this server's own address into the commands, so that they can be copied.
const here = window.location.origin + window.location.pathname.replace(/\/$/, "");
for (const place of document.querySelectorAll(".server")) {
  place.textContent = here;
}
