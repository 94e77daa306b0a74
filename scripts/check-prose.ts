import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { maskFile } from './prose/mask.ts';
import { PHRASES, type Phrase } from './prose/phrases.ts';

/**
 * Reports banned phrases in the texts for readers: the contract, the documentation, comments, messages and test titles.
 * The phrases and their replacements are in prose/phrases.ts.
 */
const PLACES = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'Makefile',
  ...['cli', 'core', 'db', 'docs', 'examples', 'handlers', 'http', 'scripts', 'spec', 'test', 'web', 'wiring'],
];

/** Not checked: released migrations, which never change, the list of the phrases, and installed packages. */
const SKIPPED = [
  'db/postgres/migrations',
  'db/sqlite/migrations',
  'scripts/prose/phrases.ts',
  'web/console/node_modules',
];

/** The texts of pages in languages other than English. */
const TRANSLATED = /^web\/languages\/(?!en\.)[a-z]{2}(-[A-Za-z]+)?\.ts$/;

export interface Finding {
  file: string;
  line: number;
  column: number;
  found: string;
  instead: string;
}

/** Returns the banned phrases of one file, given as a path from the root and its text. */
export function checkText(file: string, text: string, phrases: Phrase[] = PHRASES): Finding[] {
  const mask = maskFile(file, text);
  if (mask === undefined) return [];
  return phrases
    .flatMap((phrase) => matches(mask, phrase).map((match) => finding(file, text, match, phrase)))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

function matches(mask: string, { pattern, except = [] }: Phrase): RegExpExecArray[] {
  const allowed = except.flatMap((context) => [...mask.matchAll(compile(context))]);
  return [...mask.matchAll(compile(pattern))].filter(
    ({ index, 0: { length } }) =>
      !allowed.some((span) => span.index <= index && span.index + span[0].length >= index + length),
  );
}

const compiled = new Map<string, RegExp>();

function compile(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const expression = new RegExp(`(?<![\\w$.-])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\w(-])`, 'gi');
  compiled.set(pattern, expression);
  return expression;
}

function finding(file: string, text: string, match: RegExpExecArray, phrase: Phrase): Finding {
  const before = text.slice(0, match.index);
  return {
    file,
    line: before.split('\n').length,
    column: match.index - before.lastIndexOf('\n'),
    found: match[0].replace(/\s+/g, ' ').trim(),
    instead: phrase.instead,
  };
}

/** Returns the findings of every file under the given folders or files of the repository. */
function checkProse(root: string, places: string[] = PLACES): Finding[] {
  const files = places.flatMap((place) =>
    /\.\w+$|Makefile$/.test(place) ? [place] : globSync(`${place}/**/*.*`, { cwd: root }),
  );
  const skipped = (file: string) => SKIPPED.some((place) => file === place || file.startsWith(`${place}/`));
  const read = files.filter((file) => !skipped(file) && !TRANSLATED.test(file));
  return read.sort().flatMap((file) => checkText(file, readFileSync(join(root, file), 'utf8')));
}

if (import.meta.main) {
  const places = process.argv.length > 2 ? process.argv.slice(2) : PLACES;
  const findings = checkProse(join(import.meta.dirname, '..'), places);
  for (const { file, line, column, found, instead } of findings) {
    console.error(`${file}:${line}:${column}: "${found}": write ${instead}`);
  }
  if (findings.length > 0) process.exitCode = 1;
  else console.log('prose: no banned phrase');
}
