import{a}from"./chunk-OGHN6QLB.js";import"./chunk-7I4EZU5B.js";import"./chunk-HACIL67Q.js";export{a as Here};
