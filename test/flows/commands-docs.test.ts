import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { blocksOf, ROOT, readPage } from './markdown.ts';

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].concat(
  readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
);
const MAKEFILE = readPage('Makefile');
const COMMANDS = readPage('cli/main.ts');

/** Returns the code on a page: the lines of its blocks, and the text between backticks. */
function codeOf(page: string): string[] {
  const text = readPage(page);
  const blocks = blocksOf(text).filter(({ language }) => ['sh', 'bash', 'text', 'ini'].includes(language));
  const inline = text.replace(/^```.*?^```$/gms, '').matchAll(/`([^`\n]+)`/g);
  return [...blocks.flatMap((block) => block.text.split('\n')), ...[...inline].map(([, code]) => code as string)];
}

describe('commands in the documentation', () => {
  const code = PAGES.flatMap((page) => codeOf(page).map((line) => ({ page, line })));
  const wrong = (isWrong: (line: string) => boolean) =>
    code.filter(({ line }) => isWrong(line)).map(({ page, line }) => `${page}: ${line}`);
  const matched = (line: string, pattern: RegExp) => [...line.matchAll(pattern)].map(([, found]) => found as string);

  it('name targets of the Makefile', () => {
    const targetsOf = (line: string) => matched(line, /^(?:[A-Z_]+=\S+ )*make ([a-z][\w-]*)/g);
    expect(code.flatMap(({ line }) => targetsOf(line)).length).to.be.above(10);
    expect(wrong((line) => targetsOf(line).some((target) => !MAKEFILE.includes(`\n${target}:`)))).to.deep.equal([]);
  });

  it('name commands of the program, with options that it has', () => {
    const commandOf = (line: string) => matched(line, /(?:^|cli\/)valetkey(?:\.js)? ([a-z][a-z-]*)/g)[0];
    const isCommand = (name: string) => new RegExp(`^  '?${name}'?: \\{$`, 'm').test(COMMANDS);
    // Each command lists its options in its usage text.
    const usages = readdirSync(join(ROOT, 'cli'))
      .map((name) => readPage(`cli/${name}`))
      .join();
    const hasOption = (name: string) => usages.includes(`--${name}`);
    const optionsOf = (line: string) =>
      matched(line.replace(/^.*valetkey(\.js)?/, '').replace(/#.*/, ''), / --([a-z-]+)/g);
    expect(code.filter(({ line }) => commandOf(line)).length).to.be.above(15);
    expect(wrong((line) => !isCommand(commandOf(line) ?? 'serve'))).to.deep.equal([]);
    expect(
      wrong((line) => commandOf(line) !== undefined && optionsOf(line).some((option) => !hasOption(option))),
    ).to.deep.equal([]);
  });

  it('start files that exist, and TypeScript with the Node of the repository', () => {
    const filesOf = (line: string) => matched(line, /\bnode (?:-\S+ )*((?:cli|scripts|examples)\/[\w./-]+)/g);
    expect(code.flatMap(({ line }) => filesOf(line)).length).to.be.above(10);
    expect(wrong((line) => filesOf(line).some((file) => !existsSync(join(ROOT, file))))).to.deep.equal([]);
    expect(wrong((line) => /(?<!bin\/)\bnode (?:scripts|examples)\//.test(line))).to.deep.equal([]);
  });
});
