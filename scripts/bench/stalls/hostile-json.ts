const MIB = 1024 * 1024;

/** Returns `{"k0":0,"k1":0,…}` of about this many MiB. */
export function manyKeys(mib: number): string {
  const parts: string[] = [];
  for (let size = 0, at = 0; size < mib * MIB; at++) size += parts.push(`"k${at}":0`) && `"k${at}":0,`.length;
  return `{${parts.join()}}`;
}

/** Returns a list with one number that a double cannot represent, and many small ones. */
export function longNumber(mib: number): string {
  return `[123456789012345678901,${'1,'.repeat((mib * MIB) / 2)}1]`;
}

export function zeros(mib: number): string {
  return `[${'0,'.repeat((mib * MIB) / 2)}0]`;
}

/** Returns many lists that are nested 150 levels deep. */
export function deepLists(mib: number): string {
  const one = `${'['.repeat(150)}${']'.repeat(150)}`;
  return `[${Array(Math.floor((mib * MIB) / (one.length + 1))).fill(one)}]`;
}

export function emptyObjects(mib: number): string {
  return `[${'{},'.repeat((mib * MIB) / 3)}{}]`;
}

/** Returns numbers that all need more digits than a double has. */
export function longNumbers(mib: number): string {
  const one = '98765432109876543210';
  return `[${Array(Math.floor((mib * MIB) / (one.length + 1))).fill(one)}]`;
}

/** Returns a text that consists of escapes only. */
export function escapes(mib: number): string {
  return `{"text":"${'\\u0041'.repeat((mib * MIB) / 6)}"}`;
}
