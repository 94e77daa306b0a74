/** The types of /connect.js, which opens links to connect accounts in a popup. */
declare namespace valetkey {
  interface ConnectOptions {
    /** The width of the popup in CSS pixels, 480 by default. */
    width?: number;
    /** The height of the popup in CSS pixels, 720 by default. */
    height?: number;
    /**
     * Whether to open the link in place of this page if the browser blocks the popup; true by default. At the end, the
     * user then arrives at `user_verify_url`. With `false`, the outcome is `blocked`.
     */
    redirect?: boolean;
    /** Closes the popup; the outcome is then `closed`. The link can still be used. */
    signal?: AbortSignal;
  }

  /** How a link ended. `state` is the value that the link was created with. */
  type Outcome =
    /**
     * The user has finished. Send `auth_request_id` to your server, which calls `verifyUser` with the user of its
     * session.
     */
    | { outcome: 'completed'; auth_request_id: string; state?: string }
    /**
     * The user has finished, and the popup was at `user_verify_url`, where your server has verified the user. Without
     * verification (verification mode `NONE`), this is the outcome too.
     */
    | { outcome: 'completed'; verified: true; state?: string }
    /** The user chose Cancel, or the provider did not allow access. */
    | { outcome: 'denied'; error: string; error_description: string; state?: string }
    /** The provider or the verification failed, and the user went back. */
    | { outcome: 'failed'; error: string; error_description: string; state?: string }
    /** The link has expired, or does not exist. */
    | { outcome: 'expired'; error: string; error_description: string; state?: string }
    /** The popup was closed before the link ended. The link can be opened again until it expires. */
    | { outcome: 'closed' }
    /** The browser blocked the popup; only with `redirect: false`. */
    | { outcome: 'blocked' };

  /**
   * Opens a link in a popup. Call it directly in the handler of a click, otherwise browsers block the popup.
   *
   * @param link the address that `generateMagicLink` returned to your server, or a promise of it
   * @returns the outcome. If the popup is blocked and `redirect` is not `false`, this page is left and the promise
   * stays pending
   * @throws TypeError if `link` is not the address of a link; the error of `link` if that promise is rejected
   */
  function connect(link: string | URL | PromiseLike<string | URL>, options?: ConnectOptions): Promise<Outcome>;
}
