import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createApi, getToken } from '../../scripts/demo/api.ts';
import type { Counterparts } from '../../scripts/demo/counterparts.ts';
import { startCounterparts } from '../../scripts/demo/counterparts.ts';
import { playGithub } from '../../scripts/demo/github-act.ts';
import { createNarrator } from '../../scripts/demo/narrator.ts';
import type { ServerProcess } from '../../scripts/demo/server-process.ts';
import { startServerProcess } from '../../scripts/demo/server-process.ts';
import { tempDir } from '../support/temp-dir.ts';
import { isOnServer } from '../support/test-engine.ts';
import { ROOT } from './markdown.ts';

describe('make demo', () => {
  it('runs every step in order, exits with 0 and removes what it created', async () => {
    const args = ['scripts/demo.ts', `--engine=${isOnServer() ? 'postgres' : 'sqlite'}`];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
    expect(stderr).to.equal('');
    const numbers = [...stdout.matchAll(/^ ?(\d+) {2}\S/gm)].map(([, number]) => Number(number));
    expect(numbers).to.have.length.above(15);
    expect(numbers).to.deep.equal(numbers.map((_number, index) => index + 1));
    expect(stdout).to.include('Everything went as it should.');
    const [, origin = '', dataDir = ''] = /runs at (\S+) with its data in .*?(\S+)\.$/m.exec(stdout) ?? [];
    expect(existsSync(dataDir)).to.equal(false);
    expect(await fetch(`${origin}/healthz`).catch(() => 'nobody answers')).to.equal('nobody answers');
  });

  it('lists the existing engines if an unknown one is requested', async () => {
    const demo = promisify(execFile)(process.execPath, ['scripts/demo.ts', '--engine=mysql'], { cwd: ROOT });
    const { code, stderr } = await demo.then(
      () => ({ code: 0, stderr: '' }),
      (error) => error,
    );
    expect(code).to.equal(1);
    expect(stderr).to.include('unknown engine "mysql" (ENGINE must be sqlite or postgres)');
  });

  describe('with exchanged credentials', () => {
    const folder = tempDir();
    let counterparts: Counterparts;
    let server: ServerProcess;

    before(async () => {
      counterparts = await startCounterparts();
      const override = `https://api.github.com=${counterparts.github.origin}`;
      server = await startServerProcess(folder.path, { VALETKEY_ENDPOINT_OVERRIDES: override });
    });

    after(async () => {
      await Promise.all([server?.stop(), counterparts?.stop()]);
      folder.remove();
    });

    it('fails at the step that shows the acting user, when the accounts have each other’s tokens', async () => {
      const { ada, grace } = counterparts.github.tokens;
      const lines: string[] = [];
      const narrator = createNarrator((line) => lines.push(line));
      const api = createApi(server.origin, await getToken(server.origin, server.client), narrator);
      const github = { ...counterparts.github, tokens: { ada: grace, grace: ada } };
      const failure = await playGithub({ api, narrator, github }).catch((error: Error) => error.message);
      expect(failure).to.match(/Each acts as herself.*not true: the account of ada is ada at GitHub/);
      expect(lines.join('\n')).not.to.include(ada).and.not.to.include(grace);
    });
  });
});
