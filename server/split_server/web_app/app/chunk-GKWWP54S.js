import{c as o}from"./chunk-RWZGFYBB.js";o();
