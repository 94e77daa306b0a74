import { browserCookie } from './browser-cookie.ts';

/** The cookie that identifies the browser in which a user has opened a link or begun a login (threat L3). */
export const { read: readFlowCookie, set: flowCookie } = browserCookie('valetkey-flow');
