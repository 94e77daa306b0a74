import { expect } from 'chai';
import { JWT } from 'google-auth-library';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { Secret } from '../../../core/secret.ts';
import { requestDelegatedToken } from '../../../core/workspace-dwd/request-token.ts';
import { readServiceAccount } from '../../../core/workspace-dwd/service-account.ts';
import { rsaPair } from '../../support/rsa-pair.ts';

const TOKEN_ENDPOINT = new URL('https://oauth2.googleapis.com/token');
const SUBJECT = 'maria@acme.example';
const SCOPES = ['https://www.googleapis.com/auth/gmail.readonly', 'https://www.googleapis.com/auth/calendar'];
const KEY = rsaPair('client').privateKey.export({ type: 'pkcs8', format: 'pem' });
const FILE = {
  type: 'service_account',
  private_key: KEY,
  private_key_id: 'key-1',
  client_email: 'robot@project.iam.gserviceaccount.com',
  token_uri: TOKEN_ENDPOINT.href,
};

interface Sent {
  url: string;
  form: Record<string, string>;
}

/** Returns what the vendor's own library sends for the same file, subject and scopes. */
async function theirs(): Promise<Sent> {
  const sent: Sent[] = [];
  const quiet = { add: () => {} };
  const transporter = {
    interceptors: { request: quiet, response: quiet },
    request: async (options: { url: string | URL; data: URLSearchParams }) => {
      sent.push({ url: String(options.url), form: Object.fromEntries(new URLSearchParams(String(options.data))) });
      return { data: { access_token: 'at', expires_in: 3600, token_type: 'Bearer' } };
    },
  };
  const client = new JWT({
    email: FILE.client_email,
    key: String(KEY),
    keyId: FILE.private_key_id,
    subject: SUBJECT,
    scopes: SCOPES,
    transporter: transporter as never,
  });
  await client.authorize();
  return sent[0] as Sent;
}

async function ours(now: number): Promise<Sent> {
  const sent: Sent[] = [];
  await requestDelegatedToken({
    account: readServiceAccount(new Secret(JSON.stringify(FILE))),
    subject: SUBJECT,
    scopes: SCOPES,
    audience: TOKEN_ENDPOINT.href,
    tokenEndpoint: TOKEN_ENDPOINT,
    fetch: async (url, init) => {
      sent.push({ url: String(url), form: Object.fromEntries(new URLSearchParams(String(init?.body))) });
      return Response.json({ access_token: 'at', expires_in: 3600, token_type: 'Bearer' });
    },
    now: () => now,
  });
  return sent[0] as Sent;
}

describe('a delegation compared with the vendor’s own library (oracle: google-auth-library)', () => {
  it('is sent to the same address in the same form, with the same claims', async () => {
    const expected = await theirs();
    const claims = decodeJwt(expected.form['assertion'] ?? '');
    const sent = await ours(Number(claims.iat) * 1000);
    expect(sent.url).to.equal(expected.url);
    expect(Object.keys(sent.form)).to.have.members(Object.keys(expected.form));
    expect(sent.form['grant_type']).to.equal(expected.form['grant_type']);
    expect(decodeJwt(sent.form['assertion'] ?? '')).to.deep.equal(claims);
    const { alg } = decodeProtectedHeader(expected.form['assertion'] ?? '');
    expect(decodeProtectedHeader(sent.form['assertion'] ?? '')).to.deep.equal({ alg, typ: 'JWT', kid: 'key-1' });
  });

  it('differs at another time (negative control)', async () => {
    const claims = decodeJwt((await theirs()).form['assertion'] ?? '');
    const sent = decodeJwt((await ours(Number(claims.iat) * 1000 + 5000)).form['assertion'] ?? '');
    expect(sent).not.to.deep.equal(claims);
  });
});
