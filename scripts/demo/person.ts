/** A page as a person's browser got it. */
export interface Page {
  url: string;
  status: number;
  text: string;
  /** Where it leads, absolute; undefined for a page to look at. */
  location: string | undefined;
}

/** A person with a browser: cookies by host, forms with their hidden fields. No script runs. */
export interface Person {
  open(url: string): Promise<Page>;
  /** Sends the form of a page, with what is typed into it. */
  submit(page: Page, typed?: Record<string, string>): Promise<Page>;
  /** Goes where a page leads, until there is one to look at or an address that `isEnd` knows, which is not opened. */
  follow(page: Page, isEnd?: (url: URL) => boolean): Promise<Page>;
}

/** @param hosts origins with another actual address, as with name resolution: `https://acme.example` */
export function createPerson(hosts: Record<string, string> = {}): Person {
  const jar = new Map<string, Map<string, string>>();

  async function ask(url: string, init: RequestInit = {}): Promise<Page> {
    const { origin, pathname, search } = new URL(url);
    const stands = hosts[origin] ?? origin;
    const cookies = jar.get(stands) ?? new Map<string, string>();
    jar.set(stands, cookies);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(`${stands}${pathname}${search}`, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const leads = location === null ? undefined : new URL(location, url).href;
    return { url, status: response.status, text: await response.text(), location: leads };
  }

  const person: Person = {
    open: (url) => ask(url),
    submit(page, typed = {}) {
      const hidden = page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
      const fields = { ...Object.fromEntries([...hidden].map(([, name, value]) => [name, value])), ...typed };
      const action = /<form[^>]* action="([^"]+)"/.exec(page.text)?.[1] ?? page.url;
      return ask(new URL(action, page.url).href, {
        method: 'POST',
        headers: { 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams(fields),
      });
    },
    async follow(page, isEnd = () => false) {
      let current = page;
      for (let hops = 0; current.location !== undefined; hops++) {
        if (hops > 20) throw new Error(`led in circles at ${current.url}`);
        if (isEnd(new URL(current.location))) return current;
        current = await person.open(current.location);
      }
      return current;
    },
  };
  return person;
}
