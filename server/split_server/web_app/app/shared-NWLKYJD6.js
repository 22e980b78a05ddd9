import"./chunk-ESDKNUVF.js";var f="/share",s="shared",i="gatelink-shared";async function c(t,e){let n=await(await t.open(i)).match(`${e}${f}`);return await t.delete(i),n?(await n.text()).slice(0,2e4):""}async function w(t,{place:e=location,steps:a=history,kept:n=globalThis.caches}={}){if(!new URLSearchParams(e.search).has(s))return;a.replaceState(a.state,"",e.pathname),await t.opened;let o=n?await c(n,e.origin).catch(()=>""):"";if(!o)return;t.newChat();let r=t.draft.value;t.type(r.trim()?`${r}

${o}`:o)}export{w as takeWhatIsShared};
