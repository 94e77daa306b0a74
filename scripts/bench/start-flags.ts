import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the options of Node with which `npm start` of a checkout limits memory and threads. */
export function startFlags(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => /^--(?:max|v8)-/.test(word));
}
