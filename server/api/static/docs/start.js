// Shows this server's own contract; nothing is fetched from anywhere else, and a key
// that is typed in is forgotten with the page.
window.SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#interface",
  validatorUrl: null,
  persistAuthorization: false,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
});
