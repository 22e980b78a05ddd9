import{a}from"./chunk-Y5DG5XH7.js";import"./chunk-IXLCYMP3.js";import"./chunk-BC4QHXTK.js";export{a as Here};
