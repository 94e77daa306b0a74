import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/child-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const PROGRAM = join(import.meta.dirname, '../../cli/valetkey.js');

describe('valetkey completion', () => {
  const folder = tempDir();
  let scripts: Record<string, string>;

  before(async () => {
    const file = join(folder.path, 'valetkey');
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
    chmodSync(file, 0o755);
    const shells = ['bash', 'zsh', 'fish'];
    const printed = await Promise.all(shells.map((shell) => runCommand(['completion', shell])));
    scripts = Object.fromEntries(shells.map((shell, index) => [shell, printed[index]?.stdout ?? '']));
    for (const [shell, script] of Object.entries(scripts)) writeFileSync(join(folder.path, `script.${shell}`), script);
  });
  after(() => folder.remove());

  const env = { PATH: `${folder.path}:${process.env['PATH']}`, HOME: folder.path, TERM: 'dumb' };
  const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;
  const candidates = async (...words: string[]) => {
    const { code, stdout, stderr } = await runCommand(['__complete', ...words]);
    expect([code, stderr]).to.deep.equal([0, '']);
    return stdout.split('\n').flatMap((line) => line.split('\t')[0] || []);
  };
  /** Completes a command line as bash does when the user presses Tab. */
  const inBash = (words: string[]) => {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const script = `set -e; source '${folder.path}/script.bash'; source '${folder.path}/script.bash'
complete -p valetkey >&2; COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}
_valetkey; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return spawnSync('bash', ['-c', script], { env, encoding: 'utf8' });
  };

  it('names commands, options, and the values of options and arguments', async () => {
    expect(await candidates(''))
      .to.include.members(['serve', 'accounts', 'completion'])
      .and.not.to.include('verify-audit');
    expect(await candidates('acc')).to.deep.equal(['accept-loss', 'accounts']);
    expect(await candidates('mcp', 'login-provider', '')).to.deep.equal(['show', 'set', 'delete']);
    expect(await candidates('accounts', 'list', '--st')).to.deep.equal(['--status']);
    expect(await candidates('accounts', 'list', '--status', 'E')).to.deep.equal(['EXPIRED']);
    expect(await candidates('mcp', 'add', 'c')).to.deep.equal(['claude-code', 'claude-desktop', 'cursor', 'codex']);
  });

  it('suggests nothing for a file or a free text, so that the shell completes file names', async () => {
    expect(await candidates('backup', '')).to.deep.equal([]);
    expect(await candidates('accounts', 'list', '--search', '')).to.deep.equal([]);
    expect(await candidates('no-such-command', '')).to.include('serve');
  });

  it('works in bash, also when the script is loaded twice', () => {
    const { stdout, stderr, status } = inBash(['valetkey', 'accounts', 'li']);
    expect([status, stdout], stderr).to.deep.equal([0, 'list\nlink\n']);
    expect(stderr).to.include('complete -o default -F _valetkey valetkey');
    expect(inBash(['valetkey', 'completion', '']).stdout).to.equal('bash\nzsh\nfish\n');
  });

  it('does not execute any text of the command line', () => {
    const file = join(folder.path, 'executed');
    const { status } = inBash(['valetkey', `$(touch ${file})`, `\`touch ${file}\``]);
    expect(status).to.equal(0);
    expect(spawnSync('test', ['-e', file]).status).to.equal(1);
  });

  it('works in zsh', function () {
    if (!isInstalled('zsh')) return this.skip();
    // The functions of zsh's completion system are replaced, because they work in an interactive shell only.
    const script = `compdef() { print -r -- "compdef $@" }; _files() { print files }
_describe() { print -rl -- "\${(@P)2}" }
source '${folder.path}/script.zsh'; words=(valetkey accounts li); CURRENT=3; _valetkey
words=(valetkey backup ''); CURRENT=3; _valetkey`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', script], { env, encoding: 'utf8' });
    expect(stdout.split('\n'), stderr).to.deep.equal([
      'compdef _valetkey valetkey',
      'list:list accounts',
      'link:make a link with which a user connects an account',
      'files',
      '',
    ]);
  });

  it('works in fish', function () {
    if (!isInstalled('fish')) return this.skip();
    const script = `source '${folder.path}/script.fish'; complete -C 'valetkey accounts li'; complete -C 'valetkey mcp login-provider d'`;
    const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], { env, encoding: 'utf8' });
    expect(stdout, stderr).to.equal(
      'link\tmake a link with which a user connects an account\nlist\tlist accounts\ndelete\tdelete the login provider\n',
    );
  });

  it('rejects another shell', async () => {
    const { code, stderr } = await runCommand(['completion', 'csh']);
    expect(code).to.equal(2);
    expect(stderr).to.include('Allowed choices are bash, zsh, fish');
  });
});
