import { browserCookie } from './browser-cookie.ts';

/** The cookie that identifies the browser of a flow (threat L3). */
export const { read: readFlowCookie, set: flowCookie } = browserCookie('valetkey-flow');
