import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startProcess } from '../demo/process.ts';
import { takePicture } from './picture.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Takes the picture of the example application after its agent has called a tool. */
export async function takeSandbox(browser: Browser, path: string): Promise<void> {
  const options = { cwd: ROOT, env: { SANDBOX_PORT: '0' } };
  const ready = /^The application +(\S+)[\s\S]*Ctrl-C ends it all/m;
  const { process: sandbox, match } = await startProcess(process.execPath, ['scripts/sandbox.ts'], ready, options);
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.goto(match[1] as string);
    await page.getByRole('button', { name: 'Log in' }).click();
    const opening = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Connect Acme Files' }).click();
    const popup = await opening;
    await popup.getByRole('button', { name: 'Continue to Acme Files' }).click();
    await popup.getByRole('button', { name: 'Allow' }).click();
    await page.locator('.state.active').waitFor();
    await page.getByRole('button', { name: 'Which files do I have?' }).click();
    await page.locator('.transcript .answer').waitFor();
    await takePicture(page, path);
  } finally {
    await page.close();
    await sandbox.stop();
  }
}
