import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { breakingChanges } from './compatibility.ts';
import { BUNDLE } from './contract-files.ts';
import type { JsonObject } from './openapi-document.ts';

const ROOT = new URL('../', import.meta.url);

interface Release {
  readonly tag: string;
  readonly document: JsonObject;
}

/** The contract of the last tag that this commit descends from, or null if nothing has been released yet. */
function lastRelease(): Release | null {
  // An archive of the sources has no tags.
  if (!existsSync(new URL('.git', ROOT))) return null;
  const [tag] = git('tag', '--merged', 'HEAD', '--sort=-creatordate').split('\n');
  if (!tag) return null;
  return { tag, document: JSON.parse(git('show', `${tag}:generated/${BUNDLE}`)) as JsonObject };
}

function git(...args: string[]): string {
  const stdio = ['ignore', 'pipe', 'ignore'] as const;
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: [...stdio] });
}

const release = lastRelease();
if (release === null) {
  console.log('No released contract to compare with.');
} else {
  const current = JSON.parse(await readFile(new URL(`generated/${BUNDLE}`, ROOT), 'utf8')) as JsonObject;
  const breaks = breakingChanges(release.document, current);
  for (const finding of breaks) console.error(`breaks clients of ${release.tag}: ${finding}`);
  if (breaks.length > 0) process.exitCode = 1;
  else console.log(`The contract is compatible with ${release.tag}.`);
}
