import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';

/** Returns the addresses of a name in the hosts file, in the order of the file; undefined if it has none. */
export type HostsFile = (hostname: string) => readonly string[] | undefined;

/**
 * Reads a hosts file (hosts(5)). The file is read again after a change, so an edit needs no restart. A missing or
 * unreadable file counts as empty. Reading is synchronous: the file is local and small, and changes are rare.
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

/** Returns a text that differs after a change. It includes the inode, because editors replace the file. */
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
    // An address with a zone id is valid only on one network interface, so it cannot be that of a public host.
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
