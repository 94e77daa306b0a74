import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/child-server.ts';
import { allCommands, allGroups, optionsOf } from '../support/cli.ts';

/** The help of every command. `UPDATE_SNAPSHOTS=1 mocha test/cli/help.test.ts` writes it again. */
const FILE = join(import.meta.dirname, 'help.txt');
/** Commands whose result is not data. */
const WITHOUT_JSON = ['serve', 'completion'];
const AT_ONCE = 4;

describe('the help of valetkey', () => {
  const helps = new Map<string, string>();

  before(async () => {
    const wanted = [[], ...allGroups(), ...allCommands()];
    for (let first = 0; first < wanted.length; first += AT_ONCE) {
      await Promise.all(
        wanted.slice(first, first + AT_ONCE).map(async (words) => {
          const { code, stdout, stderr } = await runCommand([...words, '--help']);
          expect([code, stderr], words.join(' ')).to.deep.equal([0, '']);
          helps.set(words.join(' '), stdout);
        }),
      );
    }
  });

  it('is equal to the stored help', () => {
    const text = [...helps]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([words, help]) => `$ ${['valetkey', words, '--help'].filter(Boolean).join(' ')}\n${help}`)
      .join('\n');
    if (process.env['UPDATE_SNAPSHOTS'] === '1') writeFileSync(FILE, text);
    expect(existsSync(FILE)).to.equal(true);
    expect(text).to.equal(readFileSync(FILE, 'utf8'));
  });

  it('has an example for every command, which begins with the name of the command', () => {
    expect(allCommands().length).to.be.above(40);
    for (const words of allCommands()) {
      if (words[0] === 'verify-audit') continue;
      expect(helps.get(words.join(' '))).to.include(`\nExamples:\n  $ valetkey ${words.join(' ')}`);
    }
  });

  it('states whether a command sends requests or needs the files of the server', () => {
    for (const words of allCommands()) {
      if (words[0] === 'completion') continue;
      expect(helps.get(words.join(' ')), words.join(' ')).to.match(/\nSends requests to|\nNeeds the settings/);
    }
  });

  it('offers --json for every command with a result', async () => {
    for (const words of allCommands()) {
      if (WITHOUT_JSON.includes(words[0] ?? '')) continue;
      expect(await optionsOf(words), words.join(' ')).to.include('--json');
    }
  });

  it('has no option that takes a secret as an argument', async () => {
    const secret = /secret|password|token|credential/;
    for (const words of allCommands()) {
      const { stdout } = { stdout: helps.get(words.join(' ')) ?? '' };
      const named = [...stdout.matchAll(/^ {2}(--[\w-]+)( <([\w-]+)>)?/gm)].filter(([, name = '']) =>
        secret.test(name),
      );
      for (const [, name, , value] of named)
        expect(value, `${words.join(' ')} ${name}`).to.be.oneOf([undefined, 'file']);
    }
  });

  it('loads no module of the server', async () => {
    const before = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) { console.error(url); return next(url, context); } });`;
    const loaded = async (...words: string[]) => (await runCommand(words, {}, { before })).stderr;
    const [help, group, command] = await Promise.all([
      loaded('--help'),
      loaded('keys', '--help'),
      loaded('serve', '--help'),
    ]);
    expect(command, 'the control').to.match(/\/http\/config\/config\.ts/);
    for (const modules of [help, group])
      expect(modules)
        .to.include('/cli/main.ts')
        .and.not.to.match(/\/(db|http|wiring|handlers|generated|cli\/commands)\//);
  });

  it('is shown by valetkey help and by a group without a command', async () => {
    const [help, group] = await Promise.all([
      runCommand(['help', 'keys', 'list']),
      runCommand(['mcp', 'login-provider']),
    ]);
    expect([help.code, help.stdout]).to.deep.equal([0, helps.get('keys list')]);
    expect([group.code, group.stdout, group.stderr]).to.deep.equal([2, '', helps.get('mcp login-provider')]);
  });
});
