import { request as send } from 'undici';

/**
 * The text of a page without the `bdi` elements, which keep the writing direction of names separate from the sentence.
 */
export function withoutIsolation(text: string): string {
  return text.replaceAll(/<\/?bdi[^>]*>/g, '');
}

/** A page as a browser received it. */
export interface BrowserPage {
  /** The address of the last request. */
  url: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The absolute address of the redirect; undefined if there is none. */
  location: string | undefined;
}

interface Cookie {
  name: string;
  value: string;
  path: string;
}

export interface BrowserOptions {
  /** The real addresses of origins such as `https://as.example`. */
  hosts?: Record<string, string>;
  /** Headers of all requests, such as those that a proxy adds. */
  headers?: Record<string, string>;
}

/**
 * The parts of a browser that links need: it stores cookies by host, and sends the origin of a form. It runs no
 * scripts.
 */
export class TestBrowser {
  readonly #hosts: Record<string, string>;
  readonly #headers: Record<string, string>;
  readonly #jar = new Map<string, Cookie[]>();
  /** Every requested address, in order. */
  readonly visited: string[] = [];

  constructor({ hosts = {}, headers = {} }: BrowserOptions = {}) {
    this.#hosts = hosts;
    this.#headers = headers;
  }

  /** Opens an address without following redirects. */
  open(url: string, method: 'GET' | 'HEAD' = 'GET'): Promise<BrowserPage> {
    return this.#ask(method, url, {});
  }

  /** Submits a form, by default as from a page of the same host. */
  submit(url: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<BrowserPage> {
    const usual = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
    return this.#ask('POST', url, { ...usual, ...headers }, new URLSearchParams(fields).toString());
  }

  /** Follows redirects until there is none, or until `isEnd` returns true for the next address. */
  async follow(page: BrowserPage, isEnd: (url: URL) => boolean = () => false): Promise<BrowserPage> {
    let current = page;
    for (let hops = 0; current.location !== undefined; hops++) {
      if (hops > 20) throw new Error(`redirected in circles at ${current.url}`);
      if (isEnd(new URL(current.location))) return current;
      current = await this.open(current.location);
    }
    return current;
  }

  cookie(origin: string, name: string): string | undefined {
    return this.#jar.get(origin)?.find((cookie) => cookie.name === name)?.value;
  }

  setCookie(origin: string, name: string, value: string): void {
    this.#keep(origin, { name, value, path: '/' });
  }

  async #ask(
    method: 'GET' | 'HEAD' | 'POST',
    url: string,
    headers: Record<string, string>,
    body: string | null = null,
  ): Promise<BrowserPage> {
    const { origin, pathname, search } = new URL(url);
    this.visited.push(url);
    const cookie = (this.#jar.get(origin) ?? [])
      .filter(({ path }) => pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const response = await send(`${this.#hosts[origin] ?? origin}${pathname}${search}`, {
      method,
      headers: { ...(cookie && { cookie }), ...this.#headers, ...headers },
      body,
      // A new connection for each request, so that the requests go to all servers behind an address.
      reset: true,
    });
    const text = await response.body.text();
    for (const line of [response.headers['set-cookie'] ?? []].flat()) this.#keep(origin, parse(line));
    const { location } = response.headers;
    return {
      url,
      status: response.statusCode,
      headers: response.headers,
      text,
      location: typeof location === 'string' ? new URL(location, url).href : undefined,
    };
  }

  #keep(origin: string, cookie: Cookie): void {
    const others = (this.#jar.get(origin) ?? []).filter(
      ({ name, path }) => name !== cookie.name || path !== cookie.path,
    );
    this.#jar.set(origin, cookie.value === '' ? others : [...others, cookie]);
  }
}

function parse(line: string): Cookie {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const equals = pair.indexOf('=');
  const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/';
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1), path };
}

/** Returns the hidden fields of a page's form. */
export function hiddenFields(page: BrowserPage): Record<string, string> {
  const found = page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value]));
}
