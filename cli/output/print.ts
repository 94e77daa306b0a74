import { styleText } from 'node:util';
import { escapeControls } from '../../core/text/escape-controls.ts';
import { toJson } from './json.ts';

type Style = Parameters<typeof styleText>[0];

/** The option of every command that prints a result. */
export const JSON_FLAG = '--json';
export const JSON_HELP = 'print the result as JSON';

/** Prints a result: as JSON if `--json` was given, otherwise the text for people. */
export function printResult({ json }: { json?: true | undefined }, value: unknown, text: () => string): void {
  process.stdout.write(`${json ? toJson(value) : text()}\n`);
}

/** Prints a line on standard output. Values in it cannot control the terminal. */
export function say(parts: TemplateStringsArray, ...values: unknown[]): void {
  process.stdout.write(`${shown(parts, ...values)}\n`);
}

/** Prints a line on standard error, so that standard output contains only the result. */
export function note(parts: TemplateStringsArray, ...values: unknown[]): void {
  process.stderr.write(`${shown(parts, ...values)}\n`);
}

/** Returns a text in which values cannot control the terminal. */
export function shown(parts: TemplateStringsArray, ...values: unknown[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => escapeControls(String(value))));
}

/** Styles a text if standard output is a terminal, unless `NO_COLOR` or `FORCE_COLOR` overrides this. */
export function style(format: Style, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** The examples at the end of the help of a command: each a command line without the name of the program. */
export function examples(...lines: string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  $ valetkey ${line}`)].join('\n');
}
