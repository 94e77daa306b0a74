import { expect } from 'chai';
import { readCredentialsResponse } from '../../../core/oauth1/read-response.ts';

const ANSWER = 'oauth_token=t&oauth_token_secret=s';
/** Repetitions of the parsing. In quadratic time, they would take minutes. */
const REPEATED = 30;

describe('H7: a credentials response of OAuth 1.0a', () => {
  it('has no value for a duplicate name', async () => {
    const answer = await readCredentialsResponse(new Response(`${ANSWER}&a=1&b=2&a=3`));
    expect(answer?.others).to.deep.equal({ b: '2' });
    const doubled = await readCredentialsResponse(new Response(`${ANSWER}&oauth_token=u`));
    expect(doubled?.token).to.equal(undefined);
  });

  it('with tens of thousands of parameters is read in linear time', async () => {
    for (let times = 0; times < REPEATED; times++) {
      const text = `${ANSWER}${'&a'.repeat(32_000)}`;
      const answer = await readCredentialsResponse(new Response(text));
      expect(answer?.token?.token.reveal()).to.equal('t');
      expect(answer?.others).to.deep.equal({});
    }
  });
});
