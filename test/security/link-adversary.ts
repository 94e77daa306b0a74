import type { Random } from '../fuzz/random.ts';
import type { BrowserPage, TestBrowser } from '../support/browser.ts';
import type { LinkWorld } from '../support/link-world.ts';
import { browserFor, submitLink, VERIFY_URL, verifyUser } from '../support/links.ts';

/** A user. The identifier in the application is also the user name at the provider. */
interface Person {
  name: string;
  browser: TestBrowser;
}

/**
 * One attack of random moves. Mallory has links for his own accounts, his own browser and a client at the provider. He
 * can make the victim open any address that he knows, at any time, and the victim signs in and consents each time. The
 * application verifies the user of the session of the browser that arrives. Mallory does not know what only the
 * victim's browser sees.
 */
export class Adversary {
  readonly mallory: Person;
  readonly victim: Person;
  readonly #world: LinkWorld;
  readonly #random: Random;
  /** Addresses that Mallory knows, by kind. */
  readonly #links: string[] = [];
  readonly #authorizations: string[] = [];
  readonly #callbacks: string[] = [];
  readonly #returns: string[] = [];
  readonly trail: string[] = [];
  /** How often the victim's own link was finished by the victim alone and verified. */
  honest = 0;

  constructor(world: LinkWorld, flow: number, random: Random) {
    this.#world = world;
    this.#random = random;
    this.mallory = { name: `mallory-${flow}`, browser: browserFor(world.as) };
    this.victim = { name: `victim-${flow}`, browser: browserFor(world.as) };
  }

  async run(moves: number): Promise<void> {
    this.#links.push(await this.#world.link(this.mallory.name));
    for (let move = 0; move < moves; move++) {
      const name = this.#random.pick(MOVES);
      this.trail.push(name);
      await this[name]();
    }
  }

  /** Mallory makes another link for himself. */
  async makeLink(): Promise<void> {
    this.#links.push(await this.#world.link(this.mallory.name));
  }

  /** Mallory opens a link and does not follow the redirect to the provider. */
  async begin(): Promise<void> {
    const page = await submitLink(this.mallory.browser, this.#random.pick(this.#links));
    if (page.location) this.#authorizations.push(page.location);
  }

  /** Mallory consents with his own account and keeps the code. */
  async takeCode(): Promise<void> {
    const start = this.#some(this.#authorizations);
    if (!start) return;
    const page = await this.#signIn(this.mallory, await this.mallory.browser.open(start));
    if (page.location?.includes('/oauth/callback/')) this.#callbacks.push(page.location);
  }

  /** Mallory opens any callback address that he knows. */
  async finish(): Promise<void> {
    const callback = this.#some(this.#callbacks);
    if (!callback) return;
    const page = await this.mallory.browser.open(callback);
    if (page.location?.startsWith(VERIFY_URL)) this.#returns.push(page.location);
  }

  /** Mallory replaces a part of one callback with that of another, or with another value. */
  async forge(): Promise<void> {
    const [first, second] = [this.#some(this.#callbacks), this.#some(this.#callbacks)];
    if (!first || !second) return;
    const forged = new URL(first);
    const other = new URL(second);
    const part = this.#random.pick(['code', 'state', 'iss', 'path', 'error', 'twice'] as const);
    if (part === 'path') forged.pathname = '/oauth/callback/conn_00000000000000000000000000';
    else if (part === 'error') forged.searchParams.set('error', 'access_denied');
    else if (part === 'twice') forged.searchParams.append('state', other.searchParams.get('state') ?? '');
    else if (part === 'iss') forged.searchParams.set('iss', this.#random.pick(['https://evil.example', '']));
    else forged.searchParams.set(part, other.searchParams.get(part) ?? '');
    this.#callbacks.push(forged.href);
  }

  /** The victim opens a link of Mallory's and completes it. */
  async phish(): Promise<void> {
    await this.#obey(await submitLink(this.victim.browser, this.#random.pick(this.#links)));
  }

  /** The victim opens an address that Mallory sends. */
  async send(): Promise<void> {
    const address = this.#some([...this.#authorizations, ...this.#callbacks, ...this.#returns]);
    if (address?.startsWith(VERIFY_URL)) await this.#arrive(this.victim, address);
    else if (address) await this.#obey(await this.victim.browser.open(address));
  }

  /** Mallory opens an address of the application that he knows. */
  async arrive(): Promise<void> {
    const address = this.#some(this.#returns);
    if (address) await this.#arrive(this.mallory, address);
  }

  /** Mallory uses some value that he knows as the auth_request_id. */
  async guess(): Promise<void> {
    const known = [...this.#links, ...this.#authorizations, ...this.#callbacks].flatMap((address) => {
      const url = new URL(address);
      return [url.pathname.split('/').at(-1), url.searchParams.get('state'), url.searchParams.get('code')];
    });
    const value = this.#random.pick(known.filter((part): part is string => Boolean(part)));
    await this.#arrive(this.mallory, `${VERIFY_URL}?auth_request_id=${value}`);
  }

  /** The victim connects their own account, while Mallory interferes. */
  async connect(): Promise<void> {
    const link = await this.#world.link(this.victim.name);
    const start = await submitLink(this.victim.browser, link);
    if (this.#random.pick([true, false])) await this.send();
    const leading = await this.#signIn(this.victim, start);
    if (this.#random.pick([true, false])) await this.send();
    const back = leading.location ? await this.victim.browser.open(leading.location) : leading;
    if (this.#random.pick([true, false])) await this.send();
    if (!back.location?.startsWith(VERIFY_URL)) throw new Error(`the victim's own link failed: ${back.status}`);
    if ((await this.#arrive(this.victim, back.location)) === 200) this.honest += 1;
  }

  async wait(): Promise<void> {
    this.#world.clock.advance(this.#random.pick([1_000, 60_000, 4 * 60_000]));
    if (this.#random.pick([true, false])) await this.#world.server.parts.links.expire();
  }

  #some(items: readonly string[]): string | undefined {
    return items.length === 0 ? undefined : this.#random.pick(items);
  }

  /** The victim follows redirects, signs in when asked, and opens the application's address if it ends there. */
  async #obey(page: BrowserPage): Promise<void> {
    const { browser } = this.victim;
    const reached = await browser.follow(page, ({ href }) => href.startsWith(VERIFY_URL));
    const signed = reached.url.includes('/sign-in/') ? await this.#signIn(this.victim, reached) : reached;
    const last = await browser.follow(signed, ({ href }) => href.startsWith(VERIFY_URL));
    if (last.location) await this.#arrive(this.victim, last.location);
  }

  async #signIn({ browser, name }: Person, page: BrowserPage): Promise<BrowserPage> {
    const isCallback = (url: URL) => url.pathname.startsWith('/oauth/callback/');
    const reached = await browser.follow(page, isCallback);
    if (!reached.url.includes('/sign-in/')) return reached;
    return browser.follow(await browser.submit(reached.url, { answer: 'allow', login: name }), isCallback);
  }

  /** The application verifies the user who arrives. */
  async #arrive({ name }: Person, address: string): Promise<number> {
    const authRequestId = new URL(address).searchParams.get('auth_request_id') ?? '';
    return (await verifyUser(this.#world.server, authRequestId, name)).status;
  }
}

const MOVES = [
  ...([
    'makeLink',
    'begin',
    'takeCode',
    'finish',
    'forge',
    'phish',
    'send',
    'arrive',
    'guess',
    'connect',
    'wait',
  ] as const),
  // These moves are more frequent, because most attacks consist of them.
  ...(['begin', 'takeCode', 'send', 'phish', 'forge', 'finish'] as const),
];
