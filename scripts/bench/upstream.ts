import { createServer } from 'node:http';

/** The application that tools call: every response is a JSON object of about 300 bytes. */
const ISSUE = JSON.stringify({
  number: 42,
  title: 'The build is slow on small machines',
  state: 'open',
  body: 'It takes four minutes where it used to take one. '.repeat(2),
  user: { login: 'octocat' },
  labels: [{ name: 'bug' }],
  html_url: 'https://github.com/octocat/hello-world/issues/42',
});
const HEADERS = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ISSUE) };

createServer((_req, res) => {
  res.writeHead(200, HEADERS).end(ISSUE);
}).listen(Number(process.env['PORT']), '127.0.0.1');
