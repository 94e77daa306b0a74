import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildProgram, commandPath } from '../../cli/build-program.ts';
import { blocksOf, ROOT, readPage } from './markdown.ts';

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].concat(
  readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
);
const MAKEFILE = readPage('Makefile');

/** Returns the code on a page: the lines of its shell, text and INI blocks, and the text between backticks. */
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

  it('name commands of the program, with options that they have', async () => {
    const wordsOf = (line: string) =>
      /(?:^|cli\/)valetkey(?:\.js)? ([a-z][^#|>]*)/.exec(line)?.[1]?.trim().split(/\s+/) ?? [];
    const lines = code.map((each) => ({ ...each, words: wordsOf(each.line) })).filter(({ words }) => words.length > 0);
    expect(lines.length).to.be.above(15);
    const wrongLines = await Promise.all(
      lines.map(async ({ page, line, words }) => {
        const path = commandPath(words);
        const program = await buildProgram(path);
        const command = path.reduce(
          (parent, name) => parent.commands.find((c) => c.name() === name) ?? parent,
          program,
        );
        const known = command
          .createHelp()
          .visibleOptions(command)
          .map(({ long }) => long);
        const options = words.flatMap((word) => /^(--[a-z-]+)/.exec(word)?.[1] ?? []);
        const isLeaf = command.commands.length === 0 || words.length === path.length || words[path.length] === '…';
        return path.length > 0 && isLeaf && options.every((option) => known.includes(option))
          ? []
          : [`${page}: ${line}`];
      }),
    );
    expect(wrongLines.flat()).to.deep.equal([]);
  });

  it('start files that exist, and TypeScript with the Node of the repository', () => {
    const filesOf = (line: string) => matched(line, /\bnode (?:-\S+ )*((?:cli|scripts|examples)\/[\w./-]+)/g);
    expect(code.flatMap(({ line }) => filesOf(line)).length).to.be.above(10);
    expect(wrong((line) => filesOf(line).some((file) => !existsSync(join(ROOT, file))))).to.deep.equal([]);
    expect(wrong((line) => /(?<!bin\/)\bnode (?:scripts|examples)\//.test(line))).to.deep.equal([]);
  });
});
