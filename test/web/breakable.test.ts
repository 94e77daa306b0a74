import { expect } from 'chai';
import { breakable } from '../../web/breakable.ts';

describe('breakable', () => {
  for (const [text, expected] of [
    ['ada@example.com', 'ada@example.com'],
    ['A sentence of several words. And another one.', 'A sentence of several words. And another one.'],
    ['ada.lovelace+engine@widgets.example', 'ada<wbr>.lovelace<wbr>+engine<wbr>@widgets<wbr>.example'],
    ['https://acme.example/base/path?a=b', 'https://<wbr>acme<wbr>.example/<wbr>base/<wbr>path<wbr>?a<wbr>=b'],
    ['google_calendar_list_events', 'google<wbr>_calendar<wbr>_list<wbr>_events'],
    ['نص.طويل.جدا.بلا.مسافات', 'نص<wbr>.طويل<wbr>.جدا<wbr>.بلا<wbr>.مسافات'],
  ] as const) {
    it(`returns ${expected}`, () => {
      expect(String(breakable(text))).to.equal(expected);
    });
  }

  it('escapes every part', () => {
    expect(String(breakable('"><script>alert(1)</script>'))).to.equal(
      '&quot;&gt;&lt;script&gt;alert(1)&lt;/<wbr>script&gt;',
    );
  });

  it('takes limited time for a long text', () => {
    const before = process.cpuUsage();
    breakable(`${'a.'.repeat(5_000)}${'.'.repeat(50_000)}`);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.below(500);
  });
});
