// The conformance suite starts this program as the client. It lets the test do the work, because a client of Valetkey is a whole server.
const [control, url] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = 'null' } = process.env;
const body = JSON.stringify({ url, scenario, context: JSON.parse(context) });
const response = await fetch(control, { method: 'POST', body });
process.stdout.write(await response.text());
