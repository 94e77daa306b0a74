import { UsageError } from '../../usage-error.ts';
import type { McpClient } from './clients.ts';

/** Returns the entry for one server in the configuration file of the client. */
export function configOf({ format }: McpClient, name: string, url: string): string {
  if (format.type === 'json') return JSON.stringify({ [format.member]: { [name]: format.entry(url) } }, null, 2);
  return `[${format.table}.${name}]\nurl = ${JSON.stringify(url)}`;
}

/**
 * Adds a server to the text of a client's file, and keeps all other settings.
 *
 * @param text of the file; empty if there is none
 * @throws UsageError if the file has another server with this name, or cannot be changed without losing something
 */
export function addServer(client: McpClient, text: string, name: string, url: string): string {
  return client.format.type === 'json' ? addJson(client, text, name, url) : addToml(client, text, name, url);
}

function addJson({ file, format }: McpClient, text: string, name: string, url: string): string {
  if (format.type !== 'json') return text;
  const config = parseConfig(file, text);
  const servers = config[format.member] ?? {};
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers))
    throw new UsageError(`${format.member} in ${file} must be an object`);
  const present = Object.hasOwn(servers, name) ? (servers as Record<string, unknown>)[name] : undefined;
  const entry = format.entry(url);
  if (present !== undefined && JSON.stringify(present) !== JSON.stringify(entry)) throw taken(file, name);
  return `${JSON.stringify({ ...config, [format.member]: { ...servers, [name]: entry } }, null, 2)}\n`;
}

/** @throws UsageError also for JSON with comments, because rewriting the file would lose them */
function parseConfig(file: string, text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const config: unknown = JSON.parse(text);
    if (typeof config === 'object' && config !== null && !Array.isArray(config))
      return config as Record<string, unknown>;
  } catch {
    // The error is reported below, without quoting the file.
  }
  throw new UsageError(`${file} is not a JSON object, or has comments: add the server by hand`);
}

function addToml(client: McpClient, text: string, name: string, url: string): string {
  const { format } = client;
  if (format.type !== 'toml') return text;
  const added = configOf(client, name, url);
  if (text.includes(added)) return text;
  const heads = [name, `"${name}"`, `'${name}'`].map((key) => `[${format.table}.${key}]`);
  if (text.split('\n').some((line) => heads.includes(line.trim()))) throw taken(client.file, name);
  return `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}${added}\n`;
}

function taken(file: string, name: string): UsageError {
  return new UsageError(`${file} has another server named ${name}: choose another --name, or remove it first`);
}
