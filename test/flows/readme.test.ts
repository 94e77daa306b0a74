import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Emulator } from 'emulate';
import { createEmulator } from 'emulate';
import type { RunningProcess } from '../../scripts/demo/process.ts';
import { startProcess } from '../../scripts/demo/process.ts';
import type { ServerProcess } from '../../scripts/demo/server-process.ts';
import { startServerProcess } from '../../scripts/demo/server-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { Block } from './markdown.ts';
import { blocksOf, ROOT, readPage } from './markdown.ts';
import { expectShown } from './shown.ts';

const run = promisify(execFile);
const README = readPage('README.md');
const QUICKSTART = ['Quickstart', 'With curl', 'The same with GitHub', 'A generated client', 'An MCP client'];
const GITHUB_TOKEN = 'ghp_quickstart0123456789';
/** Printed between the outputs of two blocks. */
const SEPARATOR = '\u001e';

describe('the quickstart of the README', () => {
  const blocks = blocksOf(README).filter(({ heading }) => QUICKSTART.includes(heading));
  const shell = blocks.filter(({ language }) => language === 'bash');
  const [serverBlock, notesBlock, ...agentBlocks] = shell as [Block, Block, ...Block[]];
  const folder = tempDir();
  let notes: RunningProcess;
  let notesPort: string;
  let server: ServerProcess;
  let github: Emulator;
  let outputs: Map<Block, string[]>;

  before(async () => {
    github = await startGithub();
    const app = await startBash(notesBlock.text, /http:\/\/127\.0\.0\.1:(\d+)/, { NOTES_PORT: '0' });
    notes = app.process;
    notesPort = app.match[1] as string;
    // Replaces `make run`, without installing and generating, because that is done before the test.
    const make = `make() { [ "$*" = run ] && exec '${process.execPath}' cli/valetkey.js serve; }`;
    server = await startServerProcess(
      folder.path,
      { VALETKEY_ENDPOINT_OVERRIDES: `https://api.github.com=${github.url.replace('localhost', '127.0.0.1')}` },
      ['bash', '--norc', '-c', `${make}\n${withPorts(serverBlock.text)}`],
    );
    outputs = await runAsOneTerminal(agentBlocks);
  });

  after(async () => {
    await Promise.all([server?.stop(), notes?.stop(), github?.close()]);
    folder.remove();
  });

  it('starts the server with the last command of `make run`', () => {
    const [, recipe = ''] = /^run: .*\n((?:\t.*\n)+)/m.exec(readPage('Makefile')) ?? [];
    expect(recipe.trim().split('\n').at(-1)?.trim()).to.equal(
      '@VALETKEY_BUILT=1 MALLOC_ARENA_MAX=1 exec node --disable-sigusr1 --v8-pool-size=1 --max-semi-space-size=4 --max-old-space-size=1024 cli/valetkey.js serve --with-parent',
    );
  });

  it('returns what the page shows, step by step', () => {
    const checked = blocks.flatMap((block, index) => {
      const shown = blocks[index + 1];
      if (block.language !== 'bash' || shown?.language !== 'json') return [];
      for (const output of outputs.get(block) ?? []) {
        expectShown(JSON.parse(output), JSON.parse(shown.text), `README.md:${shown.line}`);
      }
      return [block];
    });
    expect(checked.length).to.equal(blocks.filter(({ language }) => language === 'json').length);
  });

  it('replays a response byte for byte when a block with an idempotency key is sent twice', () => {
    const repeated = [...outputs.values()].filter((answers) => answers.length === 2);
    expect(repeated).to.have.length(1);
    for (const [first, second] of repeated) expect(second).to.equal(first);
  });

  it('calls GitHub as the user of the token: the emulator treats an unknown token as another user', () => {
    const block = agentBlocks.find(({ text }) => text.includes('github_get_authenticated_user')) as Block;
    expect(JSON.parse(outputs.get(block)?.[0] ?? '{}')).to.have.nested.property('data.login', 'octocat');
  });

  it('runs the generated client to completion', () => {
    const block = agentBlocks.find(({ text }) => text.includes('generated-client')) as Block;
    const [output] = outputs.get(block) ?? [];
    expect(output).to.include("text: 'Water the plants'").and.include("kind: 'upstream_bad_request'");
  });

  it('lets an MCP client list tools and call one', () => {
    const block = agentBlocks.find(({ text }) => text.includes('mcp-client')) as Block;
    const [output] = outputs.get(block) ?? [];
    expect(output).to.match(/^\d+ tools: .*http_get/);
    expect(output)
      .to.include('result:')
      .and.include("text: 'Water the plants'")
      .and.match(/execution_id: 'exec_/);
  });

  it('leaves a database whose audit log can be verified and backed up (F4)', async () => {
    const file = join(folder.path, 'after-quickstart.db');
    const env = { PATH: process.env['PATH'], DATA_DIR: folder.path };
    await run(process.execPath, ['cli/valetkey.js', 'backup', file], { cwd: ROOT, env });
    expect(existsSync(file)).to.equal(true);
  });

  it('leaves no secret in the output of the server, except the client secret that is shown once (S5)', () => {
    const printed = server.stdout + server.stderr.replace(server.client.secret, '');
    for (const secret of [server.client.secret, 'notes-demo-key-1234', GITHUB_TOKEN]) {
      expect(printed).not.to.include(secret);
    }
  });

  /**
   * Runs code blocks unchanged in one shell, as if they were pasted one after the other; blocks that create a key run
   * twice.
   */
  async function runAsOneTerminal(pasted: readonly Block[]): Promise<Map<Block, string[]>> {
    const steps = pasted.flatMap((block) => (block.text.includes('Idempotency-Key') ? [block, block] : [block]));
    const script = steps.map(({ text }) => `${withPorts(text)}\nprintf '${SEPARATOR}'`).join('\n');
    const { PATH = '', HOME = '' } = process.env;
    const env = {
      PATH,
      HOME,
      VALETKEY_CLIENT_ID: server.client.id,
      VALETKEY_CLIENT_SECRET: server.client.secret,
      VALETKEY_URL: server.origin,
      NOTES_URL: `http://127.0.0.1:${notesPort}`,
      GITHUB_TOKEN,
    };
    const { stdout } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: ROOT, env });
    const printed = stdout.split(SEPARATOR);
    const byBlock = new Map<Block, string[]>();
    for (const [index, block] of steps.entries()) {
      byBlock.set(block, [...(byBlock.get(block) ?? []), (printed[index] as string).trim()]);
    }
    return byBlock;
  }

  function withPorts(text: string): string {
    const local = text.replaceAll('127.0.0.1:9900', `127.0.0.1:${notesPort}`);
    return server ? local.replaceAll('http://localhost:8080', server.origin) : local;
  }
});

function startBash(text: string, ready: RegExp, env: Record<string, string>) {
  return startProcess('bash', ['--norc', '-c', text], ready, { cwd: ROOT, env });
}

/** Starts an emulator of GitHub with two issues. The emulator treats any unknown token as that of its first user. */
async function startGithub(): Promise<Emulator> {
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: { [GITHUB_TOKEN]: { login: 'octocat', scopes: ['repo'] } },
      github: {
        users: [{ login: 'nobody' }, { login: 'octocat' }],
        repos: [{ owner: 'octocat', name: 'Hello-World' }],
      },
    },
  });
  for (const title of ['First', 'Second', 'Third']) {
    await fetch(`${emulator.url}/repos/octocat/Hello-World/issues`, {
      method: 'POST',
      headers: { authorization: `Bearer ${GITHUB_TOKEN}` },
      body: JSON.stringify({ title }),
    });
  }
  return emulator;
}
