// The conformance suite starts this program as the client. It delegates to the test, because the client under test is a
// whole Valetkey server.
const [control, url] = process.argv.slice(2);
const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = 'null' } = process.env;
const body = JSON.stringify({ url, scenario, context: JSON.parse(context) });
const response = await fetch(control, { method: 'POST', body });
process.stdout.write(await response.text());
