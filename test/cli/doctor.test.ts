import { expect } from 'chai';
import { closeAll, type Local, serve } from '../core/net/local.ts';
import { runCommand } from '../support/child-server.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const GITHUB = 'https://github.com';
const METADATA = {
  issuer: GITHUB,
  authorization_endpoint: `${GITHUB}/login/oauth/authorize`,
  token_endpoint: `${GITHUB}/login/oauth/access_token`,
  code_challenge_methods_supported: ['S256'],
};

describe('valetkey doctor', () => {
  const folder = tempDir();
  let metadata: object;
  let local: Local;

  before(async () => {
    local = await serve((request, response) => {
      const isMetadata = request.url === '/.well-known/oauth-authorization-server';
      response.writeHead(isMetadata ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isMetadata ? metadata : { error: 'Not Found' }));
    });
  });
  beforeEach(() => {
    metadata = METADATA;
  });
  after(async () => {
    await closeAll();
    folder.remove();
  });

  const run = (...args: string[]) => {
    const overrides = [GITHUB, 'https://api.github.com'].map((origin) => `${origin}=${local.origin}`).join();
    return runCommand(['doctor', ...args], { DATA_DIR: folder.path, VALETKEY_ENDPOINT_OVERRIDES: overrides });
  };

  it('prints a line for each check and exits with 0 if nothing differs, without a database', async () => {
    const { code, stdout, stderr } = await run('github');
    expect([code, stderr], stdout).to.deep.equal([0, '']);
    const [heads, ...lines] = stdout.trim().split('\n');
    expect(heads).to.match(/^VERDICT {2}CHECK +EXPECTED +FOUND$/);
    expect(lines).to.have.length.above(3);
    for (const line of lines) expect(line).to.match(/^(ok|unknown) {2,}[\w. ]+ {2,}\S.* {2,}\S/);
  });

  it('exits with 1 if something differs, and prints the expected and the found value', async () => {
    metadata = {
      ...METADATA,
      token_endpoint: `${GITHUB}/token`,
      code_challenge_methods_supported: ['a\nok b\u001b[2J'],
    };
    const { code, stdout } = await run('github');
    expect(code).to.equal(1);
    const [line = ''] = /^differs +token_uri .*$/m.exec(stdout) ?? [];
    expect(line.split(/ {2,}/).slice(2)).to.deep.equal([METADATA.token_endpoint, `${GITHUB}/token`]);
    expect(stdout, 'what a provider writes stays on its line').to.include('a\\nok b\\x1b[2J\n');
  });

  it('reports in one line that the connector or connection does not exist', async () => {
    const cases: [string[], RegExp][] = [
      [['nobody'], /no built-in connector "nobody"/],
      [['github', '--connection', 'x'], /no database/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await run(...args);
      expect(code).to.equal(1);
      expect(stderr).to.match(message);
    }
  });

  it('compares the settings of a connection as well, and never shows its secret', async () => {
    const server = await startTestServer({ dataDir: folder.path });
    await createConnection(server, {
      connector: 'github',
      key_id: 'whole',
      client_id: 'id-1',
      client_secret: 'hush-1',
    });
    await createConnection(server, { connector: 'github', key_id: 'half', client_id: 'id-2' });
    await createConnection(server, { connector: 'slack', key_id: 'other', client_id: 'id-3', client_secret: 'hush-3' });
    const [whole, half, other, none] = await Promise.all([
      run('github', '--connection', 'whole'),
      run('github', '--connection', 'half'),
      run('github', '--connection', 'other'),
      run('github', '--connection', 'none'),
    ]);
    await server.stop();
    expect(whole.code, whole.stdout).to.equal(0);
    expect(whole.stdout)
      .to.match(/^ok +connection client_secret /m)
      .and.not.to.include('hush');
    expect(half.code).to.equal(1);
    expect(half.stdout).to.match(/^differs +connection client_secret +one +none$/m);
    expect(other.code).to.equal(1);
    expect(other.stdout).to.match(/^differs +connection connector +github +slack$/m);
    expect(none.stderr).to.match(/no connection "none"/);
  });
});
