import { useSignal } from '@preact/signals';
import { t } from '../../words/languages/words.js';
import { useApp } from '../context.jsx';
import { TabList, TabPanel } from '../controls/tabs.jsx';
import { NoiseSection } from '../noise/section.jsx';
import { RedactionSection } from '../redaction/section.jsx';
import { Sheet } from '../sheet.jsx';
import { ChatsSection } from './chats_section.jsx';
import { ModelChoice } from './model_choice.jsx';
import { ModelSection } from './model_section.jsx';
import { PageSection } from './page_section.jsx';
import { SamplingSection } from './sampling_section.jsx';
import { ThisChat } from './this_chat.jsx';

/** @typedef {'chat' | 'sampling' | 'page' | 'storage'} Tab */

const NAME = 'settings';

export default function SettingsSheet() {
  const app = useApp();
  const tab = useSignal(/** @type {Tab} */ ('chat'));
  const tabs = /** @type {const} */ ([
    ['chat', t('Chat')],
    ['sampling', t('Sampling')],
    ['page', t('Page')],
    ['storage', t('Storage')],
  ]);
  const list = (
    <TabList
      name={NAME}
      label={t('Settings of')}
      tabs={tabs}
      value={tab.value}
      onChange={(value) => (tab.value = value)}
    />
  );
  return (
    <Sheet title={t('Settings')} onClose={() => (app.sheet.value = null)} head={list}>
      <TabPanel name={NAME} value={tab.value}>
        <Panel tab={tab.value} />
      </TabPanel>
    </Sheet>
  );
}

/** @param {{tab: Tab}} props */
function Panel({ tab }) {
  switch (tab) {
    case 'chat':
      return (
        <>
          <ModelChoice />
          <ThisChat />
          <RedactionSection />
          <NoiseSection />
        </>
      );
    case 'sampling':
      return <SamplingSection />;
    case 'page':
      return <PageSection />;
    case 'storage':
      return (
        <>
          <ModelSection />
          <ChatsSection />
        </>
      );
  }
}
