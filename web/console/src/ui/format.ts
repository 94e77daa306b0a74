const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const NUMBER = new Intl.NumberFormat('en');
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

export function formatTime(text: string): string {
  return DATE.format(new Date(text));
}

export function formatAgo(text: string, now = Date.now()): string {
  const difference = new Date(text).getTime() - now;
  const [unit, size] = STEPS.find(([, ms]) => Math.abs(difference) >= ms) ?? ['second', 1000];
  return RELATIVE.format(Math.trunc(difference / size), unit);
}

export function formatNumber(value: number): string {
  return NUMBER.format(value);
}

export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s` : `${Math.round(ms / 60_000)} min`;
}

/** `upstream_rate_limited` → `Upstream rate limited`, `api_client.created` → `API client created`. */
export function words(name: string): string {
  const text = name.replaceAll(/[_.]/g, ' ').toLowerCase();
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return sentence.replaceAll(/\b(api|mcp|url)\b/gi, (acronym) => acronym.toUpperCase());
}

/** Returns a time in the format of inputs of the type `datetime-local`; empty if the text is not a time. */
export function toLocalTime(text: string | undefined): string {
  const time = new Date(text ?? '');
  if (Number.isNaN(time.getTime())) return '';
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const TYPE_NAMES: Record<string, string> = {
  OAUTH: 'OAuth',
  OAUTH_M2M: 'OAuth for machines',
  BOARD_OAUTH1: 'OAuth 1.0a',
  SMART_FHIR: 'SMART on FHIR',
  API_KEY: 'API key',
  BEARER: 'Token',
  BEARER_TOKEN: 'Token',
  BASIC: 'User name and password',
  BASIC_AUTH: 'User name and password',
  CUSTOM: 'Own fields',
  WORKSPACE_DWD: 'Domain-wide delegation',
  TRUSTED_IDP: 'Cloud role',
  NO_AUTH: 'No credentials',
};

/** Returns the name of an authorization type, or of a type of connection. */
export function typeName(type: string): string {
  return TYPE_NAMES[type] ?? words(type);
}
