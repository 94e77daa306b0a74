import { expect } from 'chai';
import { createScrubber, SCRUBBED } from '../../../core/net/redact.ts';
import { signRequest } from '../../../core/oauth1/sign-request.ts';
import { Secret } from '../../../core/secret.ts';
import { signedTexts } from '../../../core/tools/signed-texts.ts';
import type { OutboundRequest } from '../../../core/tools/wire.ts';
import { signRequestV4 } from '../../../core/trusted-idp/sign-v4.ts';

const REQUEST: OutboundRequest = {
  method: 'POST',
  url: 'https://api.acme.example/things?a=1',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'b=2',
};

function signedBoard(placement: 'header' | 'query' | 'body'): OutboundRequest {
  return signRequest(REQUEST, {
    client: { key: 'consumer-key', secret: new Secret('consumer-secret') },
    token: { token: new Secret('the-token-1234'), secret: new Secret('the-token-secret') },
    rules: { signatureMethod: 'HMAC-SHA1', placement },
    now: () => Date.UTC(2026, 0, 1),
    random: (size) => Buffer.alloc(size, 7),
  });
}

describe('L2: texts that signing adds to a request (E5)', () => {
  for (const placement of ['header', 'query', 'body'] as const) {
    it(`include the signature of OAuth 1.0a in the ${placement}`, () => {
      const signed = signedBoard(placement);
      const echo = `${signed.url} ${signed.headers['authorization'] ?? ''} ${String(signed.body)}`;
      const signature = /oauth_signature="?([^"&\s]+)/.exec(echo)?.[1] as string;
      expect(signature).to.have.length.above(20);
      const texts = signedTexts(REQUEST, signed);
      expect(texts).to.include(signature).and.include(decodeURIComponent(signature));
      const left = createScrubber(texts)(JSON.stringify({ echo, base64: btoa(echo) }));
      expect(left).to.contain(SCRUBBED).and.not.contain(signature);
    });
  }

  it('include the signature of AWS, and the whole header', () => {
    const credentials = {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: new Secret('wJalrXUtnFEMI'),
      sessionToken: null,
    };
    const signed = signRequestV4(REQUEST, credentials, { region: 'us-east-1', service: 's3' }, Date.UTC(2026, 0, 1));
    const header = signed.headers['authorization'] as string;
    const signature = /Signature=([0-9a-f]{64})/.exec(header)?.[1] as string;
    const texts = signedTexts(REQUEST, signed);
    expect(texts).to.include(signature).and.include(header.replace('AWS4-HMAC-SHA256 ', ''));
    expect(createScrubber(texts)(`you sent ${signature.toUpperCase()}`)).to.equal(`you sent ${SCRUBBED}`);
  });

  it('are empty if nothing was signed', () => {
    const given = { ...REQUEST, url: `${REQUEST.url}&signature=mine-1234` };
    expect(signedTexts(given, given)).to.deep.equal([]);
  });
});
