import { LRUCache } from 'lru-cache';
import { isSecureAddress } from './secure-address.ts';

/**
 * A placeholder of an address template such as `https://{{domain}}.acme.example/v2/{{region}}`. An account value fills
 * exactly one host label or one path segment. So it can never choose a port, user information or a query, nor the last
 * two labels of the host, which are fixed.
 */
export interface AddressPlace {
  field: string;
  position: 'host' | 'path';
}

/** A template that cannot be used; the message is shown to API clients. */
export class AddressError extends Error {}

/** An account value that does not fit its place; the message is shown to API clients. */
export class AddressValueError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'AddressValueError';
    this.field = field;
  }
}

const PLACE = /^\{\{([a-z][a-z0-9_]{0,39})\}\}$/;
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const PATH_SEGMENT = /^[A-Za-z0-9._~-]{1,128}$/;
/**
 * The minimum number of fixed labels after a placeholder in a host. With only one fixed label, the account value
 * would choose the registered domain.
 */
const MIN_FIXED_LABELS = 2;

interface Split {
  scheme: string;
  host: string[];
  port: string;
  path: string[];
  query: string;
}

/** A parsed and valid template. */
interface AddressTemplate {
  split: Split;
  places: AddressPlace[];
  /** The complete address, if the template has no placeholder. */
  fixed: string | undefined;
}

/**
 * Caches parsed templates by their text, because every tool call fills one. There are only as many templates as
 * providers have addresses.
 */
const templates = new LRUCache<string, AddressTemplate>({ max: 2000 });

/**
 * Parses a template and lists its placeholders in order.
 *
 * @param source an https address without fragment or user information, or an http address of this machine
 * @param options `query`: whether a fixed query is accepted (endpoints have one at times, base addresses never)
 * @throws AddressError if it is not such an address, or a placeholder is not a whole label or segment
 */
export function addressPlaces(source: string, options: { query?: boolean } = {}): AddressPlace[] {
  const parts = split(source);
  if (parts.query !== '' && !options.query) throw new AddressError('A base URL must not have a query');
  return placesOf(parts);
}

function placesOf(parts: Split): AddressPlace[] {
  const { host, path } = parts;
  const places: AddressPlace[] = [];
  host.forEach((label, index) => {
    const field = placeOf(label);
    if (field === undefined) return;
    if (host.slice(index + 1).filter((rest) => placeOf(rest) === undefined).length < MIN_FIXED_LABELS) {
      throw new AddressError(`After {{${field}}} the host needs at least two fixed labels, such as example.com`);
    }
    places.push({ field, position: 'host' });
  });
  for (const segment of path) {
    const field = placeOf(segment);
    if (field !== undefined) places.push({ field, position: 'path' });
  }
  if (places.length > 0 && host.some((label) => placeOf(label) === undefined && !HOST_LABEL.test(label))) {
    throw new AddressError(
      'The host of an address with placeholders must contain only lower-case letters, digits and hyphens',
    );
  }
  const url = parsed(fill(parts, () => 'x'));
  if (!isSecureAddress(url)) throw new AddressError('The URL must start with https://');
  return places;
}

/**
 * Fills a template with an account's values.
 *
 * @returns the address as normalized by the URL parser, without a trailing slash
 * @throws AddressValueError naming the field that is missing or does not fit its place; AddressError if the template is
 * invalid
 */
export function fillAddress(source: string, values: Readonly<Record<string, string>>): string {
  const { split: parts, places, fixed } = templateOf(source);
  if (fixed !== undefined) return fixed;
  for (const place of places) {
    const problem = placeProblem(place, values[place.field]);
    if (problem) throw new AddressValueError(place.field, problem);
  }
  return withoutTrailingSlash(parsed(fill(parts, (field) => values[field] ?? '')));
}

function templateOf(source: string): AddressTemplate {
  const known = templates.get(source);
  if (known) return known;
  const parts = split(source);
  const places = placesOf(parts);
  const fixed = places.length === 0 ? withoutTrailingSlash(parsed(source)) : undefined;
  const template = { split: parts, places, fixed };
  templates.set(source, template);
  return template;
}

/** Returns why a value does not fit a place, as a message for API clients; undefined if it fits. */
export function placeProblem(place: AddressPlace, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return 'is required, because a URL of the provider contains it';
  if (place.position === 'host') {
    return HOST_LABEL.test(value)
      ? undefined
      : 'must be one host label: at most 63 lower-case letters, digits and inner hyphens';
  }
  const fits = PATH_SEGMENT.test(value) && value !== '.' && value !== '..';
  return fits ? undefined : 'must be one path segment: at most 128 letters, digits and . _ ~ -';
}

/** Returns an address without a trailing slash, unless it has a query. */
export function withoutTrailingSlash(url: URL): string {
  return url.search === '' ? url.href.replace(/\/$/, '') : url.href;
}

function split(source: string): Split {
  const found = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?$/.exec(source);
  if (!found) throw new AddressError('The URL must start with https:// and have no fragment');
  const [, scheme = '', authority = '', path = '', query = ''] = found;
  if (authority.includes('@')) throw new AddressError('The URL must not contain a user name or password');
  if (/[{}]/.test(query)) throw new AddressError('A placeholder cannot be part of the query');
  const port = /:\d*$/.exec(authority)?.[0] ?? '';
  const host = authority.slice(0, authority.length - port.length);
  return { scheme, host: host.split('.'), port, path: path === '' ? [] : path.slice(1).split('/'), query };
}

function placeOf(part: string): string | undefined {
  if (!/[{}]/.test(part)) return undefined;
  const found = PLACE.exec(part);
  if (!found)
    throw new AddressError('A placeholder must be a whole host label or a whole path segment: {{field_name}}');
  return found[1];
}

function fill({ scheme, host, port, path, query }: Split, value: (field: string) => string): string {
  const put = (part: string): string => {
    const field = placeOf(part);
    return field === undefined ? part : value(field);
  };
  return `${scheme}://${host.map(put).join('.')}${port}${path.map((segment) => `/${put(segment)}`).join('')}${query}`;
}

function parsed(address: string): URL {
  const url = URL.parse(address);
  if (!url || url.hostname === '') throw new AddressError('The address is not a valid URL');
  return url;
}
