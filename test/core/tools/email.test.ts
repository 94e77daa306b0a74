import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../../core/errors.ts';
import { renderTemplate } from '../../../core/tools/body-template.ts';
import { RenderBudget } from '../../../core/tools/render-budget.ts';
import { failureOf } from './samples.ts';

const TEMPLATE = {
  $email: {
    to: { $input: 'to' },
    cc: { $input: 'cc' },
    reply_to: { $input: 'reply_to' },
    subject: { $input: 'subject' },
    body: { $input: 'body' },
    content_type: { $input: 'content_type' },
    in_reply_to: { $input: 'in_reply_to' },
  },
};

function email(input: Record<string, unknown>): string {
  return renderTemplate(TEMPLATE, { input, account: {}, budget: new RenderBudget() }) as string;
}

/** Reads a message as a receiver does: unfolds headers, decodes words and the body. */
function read(message: string): { headers: [string, string][]; body: string } {
  const border = message.indexOf('\r\n\r\n');
  const unfolded = message.slice(0, border).replace(/\r\n[ \t]/g, ' ');
  const headers = unfolded.split('\r\n').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), decodeWords(line.slice(colon + 2))];
  });
  return { headers, body: Buffer.from(message.slice(border + 4), 'base64').toString('utf8') };
}

function decodeWords(text: string): string {
  return text
    .replace(/\?= (?==\?)/g, '?=')
    .replace(/=\?UTF-8\?B\?([A-Za-z0-9+/=]*)\?=/g, (_, word: string) => Buffer.from(word, 'base64').toString('utf8'));
}

describe('An e-mail message', () => {
  it('contains files as attachments, with their names and types', () => {
    const file = (name: string, type: string, text: string) => ({
      file_name: name,
      mime_type: type,
      content_base64: Buffer.from(text).toString('base64'),
    });
    const long = `${'ä'.repeat(40)}.pdf`;
    const message = renderTemplate(
      { $email: { to: { $input: 'to' }, body: { $input: 'body' }, attachments: { $file: 'files' } } },
      {
        input: {
          to: 'ada@example.com',
          body: 'Hello',
          files: [file('a.txt', 'text/plain', 'x'.repeat(100)), file(long, 'application/pdf', '--=_next_part--')],
        },
        account: {},
        budget: new RenderBudget(),
      },
    ) as string;
    const [head = '', ...parts] = message.split('--=_next_part');
    expect(head).to.include('\r\nContent-Type: multipart/mixed; boundary="=_next_part"\r\n\r\n');
    expect(parts).to.have.length(4);
    expect(parts[3]).to.equal('--\r\n');
    const [text, first, second] = parts.map((part) => read(part.slice(2)));
    expect(text?.body).to.equal('Hello');
    expect(first?.headers).to.deep.equal([
      ['Content-Type', 'text/plain'],
      ['Content-Disposition', 'attachment; filename="a.txt"'],
      ['Content-Transfer-Encoding', 'base64'],
    ]);
    expect(first?.body).to.equal('x'.repeat(100));
    const disposition = second?.headers[1]?.[1] ?? '';
    const pieces = [...disposition.matchAll(/filename\*\d+\*=(?:UTF-8'')?([^;]*)/g)].map(([, piece = '']) => piece);
    expect(decodeURIComponent(pieces.join(''))).to.equal(long);
    expect(second?.body).to.equal('--=_next_part--');
    for (const line of message.split('\r\n')) expect(line.length).to.be.at.most(78);
  });

  it('is refused if the name of a file could end its header', () => {
    const files = [{ file_name: 'a\r\nBcc: eve@example.org', content_base64: 'eA==' }];
    const scope = { input: { files }, account: {}, budget: new RenderBudget() };
    expect(() => renderTemplate({ $email: { attachments: { $file: 'files' } } }, scope)).to.throw(ApiError);
  });

  it('contains addresses, subject and text', () => {
    const message = email({
      to: ['ada@example.com', 'Ada "A" Lovelace <ada@example.org>'],
      cc: 'Zoë <z@example.com>',
      subject: 'Hi',
      body: 'One\nTwo ü',
    });
    const { headers, body } = read(message);
    expect(headers).to.deep.equal([
      ['To', 'ada@example.com, "Ada \\"A\\" Lovelace" <ada@example.org>'],
      ['Cc', 'Zoë <z@example.com>'],
      ['Subject', 'Hi'],
      ['MIME-Version', '1.0'],
      ['Content-Type', 'text/plain; charset=utf-8'],
      ['Content-Transfer-Encoding', 'base64'],
    ]);
    expect(body).to.equal('One\r\nTwo ü');
  });

  it('contains any subject, in lines of ASCII that relays accept', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (subject) => {
        let message: string;
        try {
          message = email({ to: 'a@example.com', subject, body: subject });
        } catch (error) {
          expect(error).to.be.instanceOf(ApiError);
          return;
        }
        expect(message).to.match(/^[\x20-\x7e\r\n]*$/);
        for (const line of message.split('\r\n')) expect(line.length).to.be.at.most(80);
        const { headers } = read(message);
        expect(headers.map(([name]) => name)).to.deep.equal([
          'To',
          'Subject',
          'MIME-Version',
          'Content-Type',
          'Content-Transfer-Encoding',
        ]);
        expect(headers[1]?.[1]?.trim()).to.equal(subject.trim());
      }),
    );
  });

  it('does not decode a subject that looks encoded', () => {
    expect(read(email({ to: 'a@example.com', subject: '=?UTF-8?B?aGk=?=' })).headers[1]).to.deep.equal([
      'Subject',
      '=?UTF-8?B?aGk=?=',
    ]);
  });

  it('refuses a line break in a header and names its input (header injection)', () => {
    for (const end of ['\r\nBcc: evil@example.com', '\nBcc: evil@example.com', '\r', '\u0000', '\u0085', '\u2028']) {
      for (const field of ['to', 'cc', 'reply_to', 'subject', 'in_reply_to']) {
        const input = {
          to: 'a@example.com',
          subject: 's',
          [field]: `${field === 'in_reply_to' ? '<a@b>' : 'a@example.com'}${end}`,
        };
        expect(failureOf(() => email(input)).fields, `${field} ${JSON.stringify(end)}`).to.deep.equal([
          `tool_input.${field}`,
        ]);
      }
    }
  });

  it('refuses an input that is not exactly one address', () => {
    for (const to of [
      '',
      'ada',
      'a@b.example, c@d.example',
      'a@b.example c@d.example',
      '<a@b.example',
      'a..b@c.example',
      '@c.example',
      'a@-b.example',
      'a@b.example>',
      7,
    ]) {
      expect(failureOf(() => email({ to })).fields, String(to)).to.deep.equal(['tool_input.to']);
    }
  });

  it('contains HTML if requested, and no other type', () => {
    expect(email({ to: 'a@example.com', content_type: 'text/html', body: '<p>' })).to.contain(
      'Content-Type: text/html; charset=utf-8',
    );
    expect(failureOf(() => email({ to: 'a@example.com', content_type: 'text/html; x=y' })).fields).to.deep.equal([
      'tool_input.content_type',
    ]);
  });
});
