import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/child-server.ts';
import { apiEnv } from '../support/cli.ts';
import { createConnection } from '../support/providers.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const URL_OF_SERVER = 'https://keys.example.com/mcp/conn_1';
/** The file of each client in its home directory, and what it must contain for a remote server. */
const CLIENTS: [client: string, file: string, content: unknown][] = [
  [
    'claude-desktop',
    '.config/Claude/claude_desktop_config.json',
    { mcpServers: { desk: { command: 'npx', args: ['-y', 'mcp-remote', URL_OF_SERVER] } } },
  ],
  ['cursor', '.cursor/mcp.json', { mcpServers: { desk: { url: URL_OF_SERVER } } }],
  ['codex', '.codex/config.toml', `[mcp_servers.desk]\nurl = "${URL_OF_SERVER}"\n`],
  ['gemini-cli', '.gemini/settings.json', { mcpServers: { desk: { httpUrl: URL_OF_SERVER } } }],
];

describe('valetkey mcp add', () => {
  const folder = tempDir();
  let homes = 0;

  after(() => folder.remove());

  const newHome = () => {
    const home = join(folder.path, `home-${++homes}`);
    mkdirSync(home);
    return home;
  };
  const add = (home: string, args: string[], env: Record<string, string> = {}) =>
    runCommand(['mcp', 'add', ...args], { HOME: home, ...env });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };

  for (const [client, file, content] of CLIENTS) {
    it(`prints the configuration of ${client}, and writes it to its file`, async () => {
      const home = newHome();
      const printed = await add(home, [client, URL_OF_SERVER, '--name', 'desk']);
      expect([printed.code, readdirSync(home)], printed.stderr).to.deep.equal([0, []]);
      expect(typeof content === 'string' ? printed.stdout : JSON.parse(printed.stdout)).to.deep.equal(content);
      expect(printed.stderr).to.include(join(home, file));
      expect((await add(home, [client, URL_OF_SERVER, '--name', 'desk', '--write'])).code).to.equal(0);
      const text = readFileSync(join(home, file), 'utf8');
      expect(typeof content === 'string' ? text : JSON.parse(text)).to.deep.equal(content);
      expect(statSync(join(home, file)).mode & 0o777).to.equal(0o600);
      // A second run changes nothing.
      expect((await add(home, [client, URL_OF_SERVER, '--name', 'desk', '--write'])).code).to.equal(0);
      expect(readFileSync(join(home, file), 'utf8')).to.equal(text);
      expect(readdirSync(dirname(join(home, file)))).to.have.length(1);
    });
  }

  it('keeps the other content of a file, its permissions, and a symbolic link', async () => {
    const home = newHome();
    const json = join(home, '.cursor/mcp.json');
    write(join(home, 'dotfiles/mcp.json'), '{"mcpServers":{"other":{"command":"x"}},"theme":"dark"}');
    mkdirSync(dirname(json));
    symlinkSync(join(home, 'dotfiles/mcp.json'), json);
    const toml = join(home, '.codex/config.toml');
    write(toml, '# my settings\nmodel = "large"\n\n[mcp_servers.other]\ncommand = "x"\n');
    for (const client of ['cursor', 'codex'])
      expect((await add(home, [client, URL_OF_SERVER, '--write'])).code).to.equal(0);
    expect(JSON.parse(readFileSync(join(home, 'dotfiles/mcp.json'), 'utf8'))).to.deep.equal({
      mcpServers: { other: { command: 'x' }, valetkey: { url: URL_OF_SERVER } },
      theme: 'dark',
    });
    expect(readFileSync(toml, 'utf8')).to.equal(
      `# my settings\nmodel = "large"\n\n[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.valetkey]\nurl = "${URL_OF_SERVER}"\n`,
    );
    expect(statSync(toml).mode & 0o777).to.equal(0o644);
  });

  it('does not change a file whose other content it cannot keep', async () => {
    const cases: [client: string, file: string, text: string, message: RegExp][] = [
      ['cursor', '.cursor/mcp.json', '{ // mine\n "mcpServers": {} }', /has comments/],
      ['cursor', '.cursor/mcp.json', '[]', /is not a JSON object/],
      ['cursor', '.cursor/mcp.json', '{"mcpServers":[]}', /mcpServers in .* must be an object/],
      [
        'cursor',
        '.cursor/mcp.json',
        '{"mcpServers":{"valetkey":{"url":"https://other.example"}}}',
        /another server named valetkey/,
      ],
      [
        'codex',
        '.codex/config.toml',
        '[mcp_servers.valetkey]\nurl = "https://other.example"\n',
        /another server named valetkey/,
      ],
      ['codex', '.codex/config.toml', '[mcp_servers."valetkey"]\ncommand = "x"\n', /another server named valetkey/],
    ];
    for (const [client, file, text, message] of cases) {
      const home = newHome();
      write(join(home, file), text);
      const { code, stderr } = await add(home, [client, URL_OF_SERVER, '--write']);
      expect(code, stderr).to.equal(1);
      expect(stderr).to.match(message);
      expect(readFileSync(join(home, file), 'utf8')).to.equal(text);
    }
  });

  it('finds a server whose name is also a part of the table', async () => {
    const home = newHome();
    const file = join(home, '.codex/config.toml');
    write(file, '[mcp_servers."mcp"]\ncommand = "x"\n');
    const { code, stderr } = await add(home, ['codex', URL_OF_SERVER, '--name', 'mcp', '--write']);
    expect([code, stderr]).to.satisfy(([status, text]: [number, string]) => status === 1 && text.includes('named mcp'));
    expect(readFileSync(file, 'utf8')).to.equal('[mcp_servers."mcp"]\ncommand = "x"\n');
  });

  it('rejects a name or an address that the configuration format could read as something else', async () => {
    const home = newHome();
    for (const args of [
      ['cursor', URL_OF_SERVER, '--name', '__proto__'],
      ['cursor', URL_OF_SERVER, '--name', 'a]\nb'],
      ['emacs', URL_OF_SERVER],
    ])
      expect((await add(home, args)).code, args.join(' ')).to.equal(2);
    for (const address of ['file:///etc/passwd', 'https://user:password@keys.example.com/mcp/x'])
      expect((await add(home, ['cursor', address])).code).to.equal(1);
  });

  it('finds the address of a connection by its name', async () => {
    const server = await startTestServer();
    const { id } = await createConnection(server, { connector: 'github', key_id: 'gh-main' });
    const { code, stdout, stderr } = await add(newHome(), ['vscode', 'gh-main', '--json'], apiEnv(server));
    const missing = await add(newHome(), ['vscode', 'gh-other'], apiEnv(server));
    await server.stop();
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(JSON.parse(stdout).config)).to.deep.equal({
      servers: { valetkey: { type: 'http', url: `http://localhost/mcp/${id}` } },
    });
    expect(missing.code).not.to.equal(0);
  });
});
