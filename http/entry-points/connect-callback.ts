import { awaitsFragment, type Finish, finishConsent, type Return } from '../../core/accounts/links/finish-consent.ts';
import type { LinkDeps } from '../../core/accounts/links/link-deps.ts';
import { FIELD_PREFIX } from '../../web/connect/fields.ts';
import { fragmentPage } from '../../web/connect/fragment-page.ts';
import { faultPage, refusedPage, staleFormPage, strayPage } from '../../web/connect/message-pages.ts';
import { readBody } from '../body/body.ts';
import { PAGE_FORM } from '../body/body-rule.ts';
import type { Pairs } from '../pipeline/query.ts';
import { isCrossOrigin } from '../pipeline/same-origin.ts';
import { inLink } from './connect-form.ts';
import { readFlowCookie } from './flow-cookie.ts';
import { ofRequest } from './page-context.ts';
import type { PageCall, PageReply } from './pages.ts';
import { linkPath, settledReply } from './popup.ts';
import { markOf } from './provider-mark.ts';
import { leaveLink } from './return-link.ts';

/** Handles the callback from a provider. */
export function createCallback(deps: LinkDeps) {
  const backOf = ({ req, environment }: PageCall, connectionId: string): Return => ({
    connectionId,
    answer: new URL(req.url ?? '', 'http://localhost').searchParams,
    browser: readFlowCookie(req, environment),
  });

  const finish = async (call: PageCall, back: Return): Promise<PageReply> =>
    replyTo(await finishConsent(deps, call.environment, back, call.cause), call, back.browser);

  async function replyTo(finish: Finish, call: PageCall, browser: string | undefined): Promise<PageReply> {
    switch (finish.kind) {
      case 'verify':
      case 'connected':
        return settledReply(deps, call, finish, finish.inPopup);
      case 'late':
        return settledReply(deps, { ...call, context: ofRequest(call, finish.request) }, finish, finish.inPopup);
      case 'refused':
      case 'failed':
        return notGranted(finish, inLink(call, finish.link), browser);
      case 'invalid':
        return { status: 400, page: strayPage(call.context) };
    }
  }

  /** The link stays open: the user can try again, or go back to the application. */
  function notGranted(
    { kind, link, linkToken, inPopup }: Extract<Finish, { kind: 'refused' | 'failed' }>,
    { context, requestId }: PageCall,
    browser: string | undefined,
  ): PageReply {
    const address = linkPath(linkToken, inPopup);
    const way = leaveLink(deps, link, linkToken, browser, address);
    if (kind === 'failed') return { status: 502, page: faultPage(context, requestId, address, way) };
    return { status: 403, page: refusedPage(context, markOf(link.provider), address, way) };
  }

  return {
    async arrive(call: PageCall, connectionId: string): Promise<PageReply> {
      // A browser sends GET. A HEAD request must not use up the consent flow, so it receives the response for a browser
      // without a flow.
      if (call.req.method === 'HEAD') return { status: 400, page: strayPage(call.context) };
      const back = backOf(call, connectionId);
      const link = await awaitsFragment(deps, call.environment, back);
      if (link) return { status: 200, page: fragmentPage(inLink(call, link).context, markOf(link.provider)) };
      return finish(call, back);
    },

    /** Handles the token that the page has read from the fragment of the callback URL, or that a user has copied. */
    async post(call: PageCall, connectionId: string): Promise<PageReply> {
      const back = backOf(call, connectionId);
      const link = await awaitsFragment(deps, call.environment, back);
      if (!link) return { status: 400, page: strayPage(call.context) };
      if (isCrossOrigin(call.req)) return { status: 403, page: staleFormPage(inLink(call, link).context) };
      const pairs = ((await readBody(call.req, PAGE_FORM, call.bodyHold)).value ?? {}) as Pairs;
      const token = textOf(pairs[`${FIELD_PREFIX}token`]).replace(/^#?(?:token=)?/, '');
      const error = textOf(pairs['error']);
      if (token === '' && error === '') {
        const page = fragmentPage(inLink(call, link).context, markOf(link.provider), true);
        return { status: 400, page };
      }
      back.answer.set('token', token);
      back.answer.set('error', error);
      return withoutFragment(await finish(call, back));
    },
  };
}

/** Adds an empty fragment to a redirect. Otherwise browsers would keep the current fragment, which contains a token. */
function withoutFragment(reply: PageReply): PageReply {
  return 'redirect' in reply ? { ...reply, redirect: `${reply.redirect}#` } : reply;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
