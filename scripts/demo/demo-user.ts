/** A page as a user's browser received it. */
export interface Page {
  url: string;
  status: number;
  text: string;
  /** The absolute address of a redirect; undefined for a page that is shown. */
  location: string | undefined;
}

/** A simulated user with a browser: cookies by host, forms with their hidden fields. Scripts do not run. */
export interface DemoUser {
  open(url: string): Promise<Page>;
  /** Submits the form of a page with the entered values. */
  submit(page: Page, typed?: Record<string, string>): Promise<Page>;
  /**
   * Follows redirects until a page is shown, or until `isEnd` returns true for an address, which is then not opened.
   */
  follow(page: Page, isEnd?: (url: URL) => boolean): Promise<Page>;
}

/** @param hosts the actual addresses of origins such as `https://acme.example`, in place of name resolution */
export function createDemoUser(hosts: Record<string, string> = {}): DemoUser {
  const jar = new Map<string, Map<string, string>>();

  async function ask(url: string, init: RequestInit = {}): Promise<Page> {
    const { origin, pathname, search } = new URL(url);
    const target = hosts[origin] ?? origin;
    const cookies = jar.get(target) ?? new Map<string, string>();
    jar.set(target, cookies);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) };
    const response = await fetch(`${target}${pathname}${search}`, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = response.headers.get('location');
    const leads = location === null ? undefined : new URL(location, url).href;
    return { url, status: response.status, text: await response.text(), location: leads };
  }

  const person: DemoUser = {
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
