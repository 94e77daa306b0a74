import { styleText } from 'node:util';
import { escapeControls } from '../../core/text/escape-controls.ts';

const LEVELS: Readonly<Record<number, [name: string, style: Parameters<typeof styleText>[0]]>> = {
  10: ['trace', 'dim'],
  20: ['debug', 'dim'],
  30: ['info', 'green'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
};

/**
 * Formats a line of the log for people: the time of day, the level, the message, its fields, and the stack of an error
 * below. Values cannot control the terminal.
 *
 * @param json a line of the log
 * @param hasColours whether the output shows colours
 */
export function describeLogLine(json: string, hasColours: boolean): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const [name, style] = LEVELS[Number(level)] ?? ['log', 'dim'];
  const paint = (format: typeof style, text: string) =>
    hasColours ? styleText(format, text, { validateStream: false }) : text;
  const named = Object.entries(fields).map(
    ([field, value]) => `${paint('dim', `${escapeControls(field)}=`)}${textOf(value)}`,
  );
  const head = [
    paint('dim', String(time).slice(11, 23)),
    paint(style, name.padEnd(5)),
    escapeControls(String(msg ?? '')),
  ];
  return `${[...head, ...named, ...reasonsOf(err)].join(' ')}\n${stacksOf(err)}`;
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return escapeControls(text);
}

interface LoggedError {
  message?: string;
  stack?: string;
  cause?: LoggedError;
}

/** The message of an error without a stack. */
function reasonsOf(error: unknown): string[] {
  const { message, stack } = (error ?? {}) as LoggedError;
  return message !== undefined && stack === undefined ? [textOf(message)] : [];
}

/** The stacks of an error and its causes. */
function stacksOf(error: unknown): string {
  const { stack, cause } = (error ?? {}) as LoggedError;
  if (typeof stack !== 'string') return '';
  const lines = stack.split('\n').map((line) => `  ${escapeControls(line)}\n`);
  return lines.join('') + stacksOf(cause);
}
