import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';

/** SHA-256 digests of one release for one platform, in hexadecimal. */
export interface NodeDigests {
  /** The archive `node-v<version>-<platform>.tar.gz`, as in the release's SHASUMS256.txt. */
  archive: string;
  /** `bin/node` inside that archive. */
  binary: string;
}

/** By version, then by platform such as `linux-x64`. */
export type NodeRecords = Readonly<Record<string, Readonly<Record<string, NodeDigests>>>>;

const ROOT = join(import.meta.dirname, '..');
const PLATFORMS = ['linux-x64', 'linux-arm64'];
const MAX_BINARY_BYTES = 512 * 1024 * 1024;

export function readRecords(): NodeRecords {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'node-binaries.json'), 'utf8'));
}

/**
 * Compares the Node binaries that npm installed with the recorded digests, because these npm packages are not built by
 * the Node project.
 *
 * @param root folder with `node_modules`
 * @returns one line per binary, `ok` false if it differs or has no record; empty if no package is installed
 */
export function checkInstalled(root: string, records: NodeRecords): { ok: boolean; line: string }[] {
  return PLATFORMS.flatMap((platform) => {
    const folder = join(root, 'node_modules', `node-${platform}`);
    if (!existsSync(folder)) return [];
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    const name = `Node ${version} for ${platform}`;
    const expected = records[version]?.[platform]?.binary;
    if (!expected) return [{ ok: false, line: `${name} has no record in scripts/node-binaries.json` }];
    const found = sha256(readFileSync(join(folder, 'bin/node')));
    const ok = found === expected;
    return [{ ok, line: ok ? `${name} is the recorded binary` : `${name} is ${found}, recorded is ${expected}` }];
  });
}

/**
 * Compares a downloaded archive of the Node project, and its binary, with the recorded digests.
 *
 * @param archive path of `node-v<version>-<platform>.tar.gz`
 */
export function checkArchive(archive: string, records: NodeRecords): { ok: boolean; line: string }[] {
  const [, version = '', platform = ''] = /^node-v([\d.]+)-([a-z0-9-]+)\.tar\.gz$/.exec(basename(archive)) ?? [];
  const expected = records[version]?.[platform];
  if (!expected) return [{ ok: false, line: `${basename(archive)} has no record in scripts/node-binaries.json` }];
  const member = `node-v${version}-${platform}/bin/node`;
  const binary = execFileSync('tar', ['-xzOf', archive, member], { maxBuffer: MAX_BINARY_BYTES });
  const found: NodeDigests = { archive: sha256(readFileSync(archive)), binary: sha256(binary) };
  return (['archive', 'binary'] as const).map((part) => {
    const ok = found[part] === expected[part];
    return { ok, line: `${part}: ${found[part]} ${ok ? 'is recorded' : `differs from ${expected[part]}`}` };
  });
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { archive: { type: 'string' }, root: { type: 'string', default: ROOT } } });
  const lines = values.archive
    ? checkArchive(values.archive, readRecords())
    : checkInstalled(values.root, readRecords());
  for (const { ok, line } of lines) (ok ? console.log : console.error)(line);
  const isExpected = PLATFORMS.includes(`${process.platform}-${process.arch}`);
  if (lines.length === 0) console.error('No Node binary of npm is installed, so none was compared.');
  if (lines.some(({ ok }) => !ok) || (lines.length === 0 && isExpected)) process.exitCode = 1;
}
