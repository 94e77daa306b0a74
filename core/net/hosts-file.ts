import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

/** Gives the addresses that a hosts file has for a name, in its order; undefined when it has none. */
export type HostsFile = (hostname: string) => readonly string[] | undefined;

/**
 * Reads a hosts file (hosts(5)). It is read again when it has changed, so an edit needs no restart. A missing or unreadable file has
 * no names. Reading is synchronous: the file is local and small, and a change is rare.
 */
export function createHostsFile(path: string): HostsFile {
  let version = '';
  let names: ReadonlyMap<string, readonly string[]> = new Map();
  return (hostname) => {
    const current = versionOf(path);
    if (current !== version) {
      names = readNames(path);
      version = current;
    }
    return names.get(hostname.toLowerCase());
  };
}

/** Differs after every change; editors replace the file, so its inode counts as well. */
function versionOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return '';
  }
}

function readNames(path: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const line of readLines(path)) {
    const [address = '', ...hostnames] = line.replace(/#.*/, '').trim().split(/\s+/);
    // An address with a zone id is valid for one network interface; no public host has one.
    if (isIP(address) === 0 || address.includes('%')) continue;
    for (const hostname of hostnames) {
      const name = hostname.toLowerCase();
      const known = names.get(name);
      if (known === undefined) names.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return names;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
