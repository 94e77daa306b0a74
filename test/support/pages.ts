import { expect } from 'chai';
import type { TestServer } from './server.ts';

/**
 * Reads a list to its end by `next_page_token`, then back to its start by `prev_page_token`, and expects the same pages
 * in both directions and the same total on each.
 *
 * @param path with the filters and the page size
 * @param member the member that contains the items of a page
 * @returns the items of each page
 */
// biome-ignore lint/suspicious/noExplicitAny: lists hold items of every shape
export async function walkPages(server: TestServer, path: string, member: string): Promise<any[][]> {
  const mark = path.includes('?') ? '&' : '?';
  const read = async (token: string) => {
    const answer = await server.call('GET', token ? `${path}${mark}page_token=${encodeURIComponent(token)}` : path);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  };
  const forth = [await read('')];
  expect(forth[0].prev_page_token).to.equal('');
  while (forth.at(-1).next_page_token) forth.push(await read(forth.at(-1).next_page_token));
  const back = [forth.at(-1)];
  while (back[0].prev_page_token) back.unshift(await read(back[0].prev_page_token));
  const pages = forth.map((page) => page[member]);
  expect(back.map((page) => page[member])).to.deep.equal(pages);
  expect(new Set(forth.map((page) => page.total_size))).to.deep.equal(new Set([pages.flat().length]));
  return pages;
}
