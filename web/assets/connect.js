// Opens links to connect accounts in a popup. /connect.d.ts describes it, docs/connect.md explains it.
(() => {
  /** How often the page checks whether the popup is closed, in milliseconds. */
  const LOOK_MS = 250;
  /** The pauses between requests to the server: the first pause, the factor and the longest pause. */
  const ASK = { firstMs: 500, factor: 1.5, longestMs: 5000 };
  /**
   * How long a link may stay unfinished while its popup is closed and this page has the focus, in milliseconds. A popup
   * at a provider that isolates its pages looks closed, too; but while the user uses it, this page does not have the
   * focus.
   */
  const ABANDONED_MS = 2500;

  async function connect(link, { width = 480, height = 720, redirect = true, signal } = {}) {
    // Opened before anything else: browsers allow popups only while they handle a click.
    const popup = globalThis.open('', '_blank', featuresOf(width, height));
    let url;
    try {
      url = linkUrl(await link);
    } catch (error) {
      popup?.close();
      throw error;
    }
    if (!popup) {
      if (!redirect) return { outcome: 'blocked' };
      location.assign(url.href);
      return new Promise(() => {});
    }
    const address = new URL(url);
    address.searchParams.set('display', 'popup');
    const ended = new AbortController();
    try {
      const outcomes = [told(popup, url, ended.signal), asked(popup, url, ended.signal), aborted(popup, signal)];
      popup.location.replace(address.href);
      return await Promise.race(outcomes);
    } finally {
      ended.abort();
    }
  }

  /** @throws TypeError if it is not the address of a link */
  function linkUrl(link) {
    const url = new URL(String(link));
    if (!/^https?:$/.test(url.protocol) || !/^\/connect\/[\w-]+$/.test(url.pathname)) {
      throw new TypeError('valetkey.connect: link must be the address of a link, as generateMagicLink returns it');
    }
    return url;
  }

  function featuresOf(width, height) {
    const left = Math.max(0, screenX + (outerWidth - width) / 2);
    const top = Math.max(0, screenY + (outerHeight - height) / 2);
    return `popup,width=${width},height=${height},left=${Math.round(left)},top=${Math.round(top)}`;
  }

  /**
   * Waits until the popup sends the outcome. Before that, the last page of the popup checks whether this page is
   * waiting. Without a reply, that page redirects the popup to the application.
   */
  function told(popup, { origin }, signal) {
    return new Promise((resolve) => {
      const listen = ({ data, source, origin: sender }) => {
        if (source !== popup || sender !== origin || data?.type !== 'valetkey') return;
        if (data.step === 'finished') popup.postMessage({ type: 'valetkey', step: 'tell' }, origin);
        if (data.step === 'outcome') resolve(data.result);
      };
      addEventListener('message', listen, { signal });
    });
  }

  /**
   * Requests the outcome from the server when the popup cannot be reached any more, because the user closed it or a
   * provider isolated it.
   */
  async function asked(popup, url, signal) {
    while (!popup.closed && !signal.aborted) await pause(LOOK_MS);
    let focusedSince;
    for (let wait = ASK.firstMs; !signal.aborted; wait = Math.min(wait * ASK.factor, ASK.longestMs)) {
      const result = await ask(url, signal);
      if (result && !/^(pending|waiting)$/.test(result.outcome)) return result;
      const now = performance.now();
      focusedSince = document.hasFocus() ? (focusedSince ?? now) : undefined;
      if (focusedSince !== undefined && now - focusedSince >= ABANDONED_MS) return { outcome: 'closed' };
      await pause(document.hasFocus() ? ASK.firstMs : wait);
    }
    return { outcome: 'closed' };
  }

  async function ask(url, signal) {
    try {
      const response = await fetch(`${url.origin}${url.pathname}/outcome`, { credentials: 'omit', signal });
      return response.ok || response.status === 404 ? await response.json() : undefined;
    } catch {
      // The network failed, or the origin of this page is not one of the application: the request is repeated.
      return undefined;
    }
  }

  function aborted(popup, signal) {
    return new Promise((resolve) => {
      const stop = () => {
        popup.close();
        resolve({ outcome: 'closed' });
      };
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  function pause(ms) {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  globalThis.valetkey = Object.freeze({ connect });
})();
